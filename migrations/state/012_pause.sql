-- Form 12: pipelines that somebody has paused, and since when; until they are resumed.
create table pause (
    pipeline integer primary key references pipeline (id),
    since_us integer not null
) strict;
