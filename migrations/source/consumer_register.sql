-- $1 consumer, $2 capture, $3 its triggers, $4 to $6 the table's definition, filenode and versions,
-- $7 the server's timeline (0: unknown).
-- The position is older than any later one. From the commit on it keeps the entries that are
-- needed.
-- returns none
insert into rowferry.consumer as c
       (name, capture, position, keep, triggers, definition, filenode, versions, timeline, since)
values ($1, $2::integer, 'log ' || pg_current_snapshot()::text,
        pg_snapshot_xmin(pg_current_snapshot()), $3, $4, $5::oid, $6,
        $7::integer,
        pg_current_xact_id())
    on conflict (reader, name) do update
   set capture = excluded.capture, position = excluded.position, keep = excluded.keep,
       triggers = excluded.triggers, definition = excluded.definition,
       filenode = excluded.filenode, versions = excluded.versions,
       clock = null, letters = null, letters_sum = null,
       timeline = excluded.timeline, since = excluded.since, expired_at = null, updated_at = clock_timestamp()
