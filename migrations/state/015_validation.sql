-- Version 15: the result of the last "validate" of a pipeline, and a hash of the definition that it
-- judged.
create table validation (
    pipeline   integer primary key references pipeline (id),
    definition text not null,
    ended_us   integer not null,
    passed     integer not null
) strict;
