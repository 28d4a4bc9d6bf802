-- Version 16: what the hooks of a pipeline were told last. `stopped` is a hash of the error, empty if
-- it does not stop the pipeline.
create table hook_marks (
    pipeline     integer primary key references pipeline (id),
    guard_us     integer not null,
    dead_letters integer not null,
    stopped      text not null,
    troubled     integer not null,
    generation   text not null
) strict;
