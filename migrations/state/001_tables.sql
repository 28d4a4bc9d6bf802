-- The state file, version 1. Times are microseconds since 1970 (UTC); 0 means never.

-- The checkpoint: one row per pipeline. id is the pipeline's line in the lock file.
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

-- SQLite detects damage to its own structure, but not a flipped bit in a position, which would
-- leave a gap in the index. row_sum is a function of the program.
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

-- Dead letters: operations that the service will never accept as they are, without the document.
create table dead_letter (
    pipeline          integer not null references pipeline (id),
    generation_number integer not null,
    key               text    not null,
    kind              integer not null check (kind between 0 and 1),
    reason            text    not null,
    error_type        text    not null, -- the service's error type; empty if not sent
    http_status       integer not null,
    version           integer not null,
    first_us          integer not null,
    last_us           integer not null,
    attempts          integer not null,
    primary key (pipeline, generation_number, key)
) strict, without rowid;
create index dead_letter_by_time on dead_letter (pipeline, generation_number, first_us, key);

-- Progress of the lock holder, updated once a second; invalid after it has ended.
create table working (
    pipeline        integer primary key references pipeline (id),
    told_us         integer not null,
    stage           text    not null,
    rows            integer not null,
    rows_per_second integer not null,
    share           real    not null, -- of the initial load; negative: unknown
    remaining_ms    integer not null, -- of the initial load; negative: unknown
    in_flight       integer not null, -- permitted requests in flight
    batch_bytes     integer not null, -- target size of a batch
    frozen          text    not null  -- why batches do not grow; empty: they may
) strict;

-- What the guard refused when it stopped the pipeline; kept until a sync succeeds.
create table halt (
    pipeline  integer primary key references pipeline (id),
    deletes   integer not null,
    documents integer not null, -- in the index; negative: unknown
    at_us     integer not null
) strict;

-- One row per sync, run or rebuild; the last 100 of a pipeline are kept.
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

-- Requests from other commands to the pipeline's lock holder. Answers are kept for an hour, the
-- last 100 of them for longer.
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
