-- Version 4: result of the last scheduled comparison.
create table verification (
    pipeline     integer primary key references pipeline (id),
    ended_us     integer not null,
    took_ms      integer not null,
    rows         integer not null, -- compared
    documents    integer not null, -- listed by the index
    missing      integer not null,
    extra        integer not null,
    altered      integer not null,
    dead_letters integer not null, -- that explain a difference
    waiting      integer not null, -- not yet synced
    sent         integer not null, -- differences that were sent again
    restored     integer not null, -- 1: the index looks like an older copy
    failed       integer not null, -- 1: it did not finish
    message      text    not null  -- the reason, or what was skipped
) strict;
