-- The encoding, the clock in microseconds since 1970, whether this role may see the activity of
-- others, the oldest open transaction and the oldest prepared one, with their ages in milliseconds.
-- Then for the server, this database and this role: how many sessions it admits (-1: any number), and
-- how many it has that are not of rowferry. The last two are quoted names of database and role.
-- returns one: text, int, bool, int?, int?, text?, text?, text?, text?, int?, text?, int, int, int, int, int, int, text, text
select current_setting('server_encoding'),
       (extract(epoch from clock_timestamp()) * 1000000)::bigint,
       pg_has_role(current_user, 'pg_read_all_stats', 'usage'),
       s.pid, s.age_ms, s.usename, s.application_name, s.state, p.gid, p.age_ms, p.owner,
       current_setting('max_connections')::int
       - current_setting('superuser_reserved_connections')::int
       - coalesce(current_setting('reserved_connections', true)::int, 0),
       o.of_server, d.datconnlimit, o.of_database, r.rolconnlimit, o.of_role,
       quote_ident(current_database()), quote_ident(current_user)
  from (select count(*) as of_server,
               count(*) filter (where a.datname = current_database()) as of_database,
               count(*) filter (where a.usename = current_user) as of_role
          from pg_stat_activity a
         where a.usename is not null
           and not (a.usename = current_user and a.application_name like 'rowferry %')) o
  join pg_database d on d.datname = current_database()
  join pg_roles r on r.rolname = current_user
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
