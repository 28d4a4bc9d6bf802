-- Version 9: the configuration from which a generation was built, to keep it up to date while
-- another one is built from a different definition.
create table built (
    pipeline      integer primary key references pipeline (id),
    generation    text not null,
    configuration text not null
) strict;
