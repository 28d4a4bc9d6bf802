-- Form 8: what a fingerprint is of, in words, so that a difference can be named; and the properties that were
-- added to a generation while it was live: documents of before lack them.
create table definition (
    fingerprint text primary key, -- of a mapping or of a table, whoever's
    words       text not null
) strict;
create table extended (
    pipeline   integer not null references pipeline (id),
    generation text    not null,
    property   text    not null,
    at_us      integer not null,
    primary key (pipeline, generation, property)
) strict, without rowid;
