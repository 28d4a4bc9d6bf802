-- $1, $2 the halves of an advisory lock: the sessions that share it, for people. The server shows a
-- role its own sessions.
-- returns one: text?
select string_agg(format('session %s from %s since %s', a.pid,
                         coalesce(host(a.client_addr), 'a local socket'),
                         to_char(a.backend_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
                  ', ' order by a.backend_start)
  from pg_locks l
  join pg_stat_activity a on a.pid = l.pid
 where l.locktype = 'advisory' and l.objsubid = 2 and l.granted and l.mode = 'ShareLock'
   and l.database = (select oid from pg_database where datname = current_database())
   and l.classid = $1::integer::oid and l.objid = $2::integer::oid
   and a.usename = current_user
