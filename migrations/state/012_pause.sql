-- Version 12: paused pipelines, and since when; deleted when they are resumed.
create table pause (
    pipeline integer primary key references pipeline (id),
    since_us integer not null
) strict;
