-- The encoding, the clock in microseconds since 1970, whether this role may see the activity of
-- others, the oldest open transaction and the oldest prepared one, with their ages in milliseconds.
-- returns one: text, int, bool, int?, int?, text?, text?, text?, text?, int?, text?
select current_setting('server_encoding'),
       (extract(epoch from clock_timestamp()) * 1000000)::bigint,
       pg_has_role(current_user, 'pg_read_all_stats', 'usage'),
       s.pid, s.age_ms, s.usename, s.application_name, s.state, p.gid, p.age_ms, p.owner
  from (select 1) one
  left join (select a.pid, a.usename, a.application_name, a.state,
                    (extract(epoch from clock_timestamp() - a.xact_start) * 1000)::bigint as age_ms
               from pg_stat_activity a
              where a.pid <> pg_backend_pid() and a.xact_start is not null
                and coalesce(a.backend_type, '') not in ('autovacuum worker', 'walsender')
                and a.datname = current_database()
              order by a.xact_start limit 1) s on true
  left join (select x.gid, x.owner,
                    (extract(epoch from clock_timestamp() - x.prepared) * 1000)::bigint as age_ms
               from pg_prepared_xacts x
              where x.database = current_database()
              order by x.prepared limit 1) p on true
