-- Form 2: when the index was last walked for documents without a row, and whether that is to be done
-- once more.
create table reconcile (
    pipeline    integer primary key references pipeline (id),
    finished_us integer not null, -- when the last one ended
    owed_us     integer not null, -- from then on one is owed whatever the interval; 0: none
    late_us     integer not null, -- until then requests of a holder that was killed may arrive
    flying      integer not null  -- 1: requests were sent, and not all are known to be settled
) strict;
