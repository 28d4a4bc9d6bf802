-- $1 a table that could not be locked in time: returns the process that blocks reading. This is the
-- holder of an exclusive lock. If such a lock is only requested, it is the process that the request
-- waits for, because all others queue behind the request.
-- returns maybe: int?, text?, text?, text?, int?
select l.pid, a.application_name, a.usename, a.state,
       (extract(epoch from clock_timestamp() - a.xact_start) * 1000)::bigint
  from (select case when l.granted then l.pid
                    else coalesce((pg_blocking_pids(l.pid))[1], l.pid) end as pid
          from pg_locks l
         where l.locktype = 'relation' and l.mode = 'AccessExclusiveLock'
           and l.database = (select oid from pg_database where datname = current_database())
           and l.relation in (select $1::oid
                              union all
                              select i.inhrelid from pg_inherits i where i.inhparent = $1::oid)
           and l.pid <> pg_backend_pid()
         order by l.granted desc limit 1) l
  left join pg_stat_activity a on a.pid = l.pid
