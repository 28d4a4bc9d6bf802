-- Version 6: time and reason of the last re-snapshot in place.
create table copied (
    pipeline integer primary key references pipeline (id),
    begun_us integer not null,
    reason   text    not null
) strict;
