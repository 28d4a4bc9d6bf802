-- Version 14: the configuration of the generation that was live before, for a return to it.
-- `returned` is 1 if the live generation is one to which the pipeline has returned.
create table former_config (
    pipeline      integer primary key references pipeline (id),
    configuration text not null,
    returned      integer not null
) strict;
