-- The state file, form 1. Times are microseconds since 1970 (UTC); 0 means never.

-- One row a pipeline: the checkpoint. id is the pipeline's line in the lock file.
create table pipeline (
    id                  integer primary key,
    name                text    not null unique,
    phase               integer not null default 0 check (phase between 0 and 2),
    generation          text,
    index_uuid          text,
    mapping_fingerprint text,
    table_fingerprint   text,
    source_identity     text,
    position            text,
    generation_number   integer not null default 0,
    clock_ceiling       integer not null default 0,
    settled_at_us       integer not null default 0,
    documents           integer not null default 0,
    sum                 integer not null default 0
) strict;

-- SQLite notices what breaks its own structure; a bit that flips in a position would go unseen and
-- be a gap in the index. row_sum is the program's own function.
create trigger pipeline_entered after insert on pipeline begin
    update pipeline set sum = row_sum(
        new.id, new.name, new.phase, new.generation, new.index_uuid, new.mapping_fingerprint,
        new.table_fingerprint, new.source_identity, new.position, new.generation_number,
        new.clock_ceiling, new.settled_at_us, new.documents
    ) where id = new.id;
end;
create trigger pipeline_changed after update of
    name, phase, generation, index_uuid, mapping_fingerprint, table_fingerprint,
    source_identity, position, generation_number, clock_ceiling, settled_at_us, documents
on pipeline begin
    update pipeline set sum = row_sum(
        new.id, new.name, new.phase, new.generation, new.index_uuid, new.mapping_fingerprint,
        new.table_fingerprint, new.source_identity, new.position, new.generation_number,
        new.clock_ceiling, new.settled_at_us, new.documents
    ) where id = new.id;
end;

-- Operations that the service will never accept as they are; the document is not kept.
create table dead_letter (
    pipeline          integer not null references pipeline (id),
    generation_number integer not null,
    key               text    not null,
    kind              integer not null check (kind between 0 and 1),
    reason            text    not null,
    error_type        text    not null, -- the service's word for it; empty where it was not sent
    http_status       integer not null,
    version           integer not null,
    first_us          integer not null,
    last_us           integer not null,
    attempts          integer not null,
    primary key (pipeline, generation_number, key)
) strict, without rowid;
create index dead_letter_by_time on dead_letter (pipeline, generation_number, first_us, key);

-- What a holder is at, once a second; of one that works no more it means nothing.
create table working (
    pipeline        integer primary key references pipeline (id),
    told_us         integer not null,
    stage           text    not null,
    rows            integer not null,
    rows_per_second integer not null,
    share           real    not null, -- of the copy; negative: unknown
    remaining_ms    integer not null, -- the same
    in_flight       integer not null, -- requests that may be,
    batch_bytes     integer not null, -- and how large a batch aims at
    frozen          text    not null  -- why batches grow no more; empty: they may
) strict;

-- What the guard refused when it stopped the pipeline; until a sync ends well.
create table halt (
    pipeline  integer primary key references pipeline (id),
    deletes   integer not null,
    documents integer not null, -- in the index; negative: unknown
    at_us     integer not null
) strict;

-- One row for each sync, run or rebuild; the last 100 of a pipeline stay.
create table run (
    id         integer primary key,
    pipeline   integer not null references pipeline (id),
    command    text    not null,
    started_us integer not null,
    ended_us   integer not null default 0,
    upserts    integer not null default 0,
    deletes    integer not null default 0,
    rejected   integer not null default 0,
    bytes      integer not null default 0,
    exit_code  integer not null default -1,
    message    text    not null default ''
) strict;
create index run_of_pipeline on run (pipeline, id);

-- What other commands ask of the pipeline's holder; answers stay for an hour, the last 100
-- for longer.
create table request (
    id          integer primary key,
    pipeline    integer not null references pipeline (id),
    command     text    not null,
    arguments   text    not null,
    state       integer not null default 0 check (state between 0 and 3),
    answer      text    not null default '{}',
    filed_us    integer not null,
    answered_us integer not null default 0
) strict;
create index request_of_pipeline on request (pipeline, state, id);
