-- Version 17: the largest batch for which the service takes the request: asked, or learned from
-- refusals (413).
create table request_limit (
    pipeline   integer primary key references pipeline (id),
    bytes      integer not null,
    learned_us integer not null
) strict;
