-- $1 consumer, $2 capture, $3 its triggers. The position is older than any that is noted later, and
-- from the commit on it keeps the entries that are needed.
insert into rowferry.consumer as c
       (name, capture, position, keep, triggers, server_started)
values ($1, $2::integer, 'log ' || pg_current_snapshot()::text,
        pg_snapshot_xmin(pg_current_snapshot()), $3, pg_postmaster_start_time())
    on conflict (name) do update
   set capture = excluded.capture, position = excluded.position, keep = excluded.keep,
       triggers = excluded.triggers, server_started = excluded.server_started, clock = null,
       updated_at = now()
