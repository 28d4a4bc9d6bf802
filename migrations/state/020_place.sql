-- Version 20: the server from which this file's index was last written, or the one that took it over.
create table place (
    pipeline integer primary key references pipeline (id),
    uuid text not null,
    place text not null,
    lost integer not null
) strict;
