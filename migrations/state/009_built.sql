-- Form 9: the part of the configuration that a generation was built from, so that it can be kept up to date while another
-- one is built from other words.
create table built (
    pipeline      integer primary key references pipeline (id),
    generation    text not null,
    configuration text not null
) strict;
