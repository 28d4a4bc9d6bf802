-- Version 8: the canonical text of each fingerprint, to show differences; and the properties that
-- were added to a live generation, which older documents lack.
create table definition (
    fingerprint text primary key, -- of a mapping or a table of any pipeline
    words       text not null
) strict;
create table extended (
    pipeline   integer not null references pipeline (id),
    generation text    not null,
    property   text    not null,
    at_us      integer not null,
    primary key (pipeline, generation, property)
) strict, without rowid;
