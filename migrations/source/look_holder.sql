-- $1, $2 the halves of an advisory lock: the session that has it, its role, and whether that role may be a
-- pipeline's holder. Anybody who may connect can take any advisory lock, and a consumer belongs to one role: a
-- holder has the role of this session or all of its rights.
-- returns maybe: int?, text, text, text, text, bool
select a.pid, coalesce(host(a.client_addr), 'a local socket'), coalesce(a.application_name, ''),
       coalesce(to_char(a.backend_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'an unknown time'),
       coalesce(a.usename, 'an unknown role'),
       a.usesysid is null or a.usename = current_user or pg_has_role(a.usesysid, current_user, 'member')
  from pg_locks l
  left join pg_stat_activity a on a.pid = l.pid
 where l.locktype = 'advisory' and l.objsubid = 2 and l.granted
   and l.database = (select oid from pg_database where datname = current_database())
   and l.classid = $1::integer::oid and l.objid = $2::integer::oid
 limit 1
