-- Form 4: what the last comparison by schedule found.
create table verification (
    pipeline     integer primary key references pipeline (id),
    ended_us     integer not null,
    took_ms      integer not null,
    rows         integer not null, -- compared
    documents    integer not null, -- that the index listed
    missing      integer not null,
    extra        integer not null,
    altered      integer not null,
    dead_letters integer not null, -- that stand between row and document
    waiting      integer not null, -- not yet synced
    sent         integer not null, -- differences that were sent again
    restored     integer not null, -- 1: the index looks like an older copy
    failed       integer not null, -- 1: it did not come to an end
    message      text    not null  -- why, or what was left
) strict;
