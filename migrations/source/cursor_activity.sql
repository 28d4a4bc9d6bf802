-- $1, $2 margins of the horizon in milliseconds: if it is exact, and if only the clock is known.
-- Returns the time below which no transaction of this database can commit any more; null: unknown.
-- The clock is read at the start of the statement, before the other sessions are. If a session has
-- track_activities off, the start of its transaction is invisible unless it has written.
-- returns one: text?
select case
         when pg_is_in_recovery() then pg_last_xact_replay_timestamp() - margin.clock
         when not margin.seen then statement_timestamp() - margin.clock
         when a.unknown then null
         when a.untold then least(a.oldest - margin.exact, statement_timestamp() - margin.clock)
         else least(a.oldest, statement_timestamp()) - margin.exact
       end::text
  from (select $1::bigint * interval '1 ms' as exact, $2::bigint * interval '1 ms' as clock,
               pg_has_role(current_user, 'pg_read_all_stats', 'usage')
                 and current_setting('track_activities')::boolean as seen) margin,
       (select min(xact_start) as oldest,
               coalesce(bool_or(backend_xid is not null and xact_start is null), false) as unknown,
               coalesce(bool_or(state = 'disabled'), false) as untold
          from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()
           and coalesce(backend_type, '') not in ('autovacuum worker', 'walsender')) a
