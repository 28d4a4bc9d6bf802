-- Version 2: the last scan of the index for documents without a row, and what makes the next due.
create table reconcile (
    pipeline    integer primary key references pipeline (id),
    finished_us integer not null, -- end of the last scan
    owed_us     integer not null, -- a scan is due from then on, whatever the interval; 0: none
    late_us     integer not null, -- until then requests of a killed holder may arrive
    flying      integer not null  -- 1: requests were sent, and not all results are known
) strict;
