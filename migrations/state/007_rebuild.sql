-- Form 7: a rebuild that is under way, and the consumers of generations that are not live any more.
create table rebuild (
    pipeline integer primary key references pipeline (id),
    next     integer not null references pipeline (id) deferrable initially deferred, -- whose rows are
                                -- those of the generation that is built
    kind     integer not null check (kind between 0 and 1), -- 1: back to a former one
    adopt    integer not null, -- 1: an index that bears the alias's name may be replaced
    begun_us integer not null
) strict;
create table former (
    pipeline integer not null references pipeline (id),
    consumer text    not null,
    left_us  integer not null, -- since when it is not live; 0: it never was
    primary key (pipeline, consumer)
) strict, without rowid;
