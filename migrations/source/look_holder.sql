-- $1, $2 the halves of an advisory lock: the session of the lock holder, its role, and whether that
-- role may hold a pipeline. Any role that may connect can take any advisory lock, but a consumer
-- belongs to one role. So a legitimate holder has the role of this session or all of its rights.
-- returns maybe: int?, text, text, text, text, bool
select a.pid,
       case when a.client_port = -1 then 'a local socket' else coalesce(host(a.client_addr), 'an unknown place') end,
       coalesce(a.application_name, ''),
       coalesce(to_char(a.backend_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'an unknown time'),
       coalesce(a.usename, 'an unknown role'),
       a.usesysid is null or a.usename = current_user or pg_has_role(a.usesysid, current_user, 'member')
  from pg_locks l
  left join pg_stat_activity a on a.pid = l.pid
 where l.locktype = 'advisory' and l.objsubid = 2 and l.granted
   and l.database = (select oid from pg_database where datname = current_database())
   and l.classid = $1::integer::oid and l.objid = $2::integer::oid
 limit 1
