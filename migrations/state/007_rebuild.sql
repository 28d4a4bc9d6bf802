-- Version 7: a rebuild that is under way, and the consumers of generations that are not live.
create table rebuild (
    pipeline integer primary key references pipeline (id),
    next     integer not null references pipeline (id) deferrable initially deferred, -- pipeline
                                -- row of the generation that is being built
    kind     integer not null check (kind between 0 and 1), -- 1: restores a former one
    adopt    integer not null, -- 1: an index with the alias's name may be replaced
    begun_us integer not null
) strict;
create table former (
    pipeline integer not null references pipeline (id),
    consumer text    not null,
    left_us  integer not null, -- when it ceased to be live; 0: it never was
    primary key (pipeline, consumer)
) strict, without rowid;
