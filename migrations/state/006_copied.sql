-- Form 6: when and why everything was last copied again, in place.
create table copied (
    pipeline integer primary key references pipeline (id),
    begun_us integer not null,
    reason   text    not null
) strict;
