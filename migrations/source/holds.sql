-- $1 whether transactions of other databases count too (change log: snapshots depend on all of
-- them), or only those that could still write here (cursor). Returns the oldest xmin holder of each
-- kind: kind, pid, age in microseconds (null: unknown), transaction, name, role, state. Only
-- members of pg_read_all_stats can see the activity of other roles' sessions.
-- returns any: text, int?, int?, text?, text?, text?, text?
(select 'session', a.pid, (extract(epoch from clock_timestamp() - a.xact_start) * 1000000)::bigint,
        coalesce(a.backend_xid, a.backend_xmin)::text, a.application_name, a.usename, a.state
   from pg_stat_activity a
  where a.pid <> pg_backend_pid() and a.xact_start is not null
    and coalesce(a.backend_type, '') not in ('autovacuum worker', 'walsender')
    and (a.datname = current_database() or ($1::boolean and a.backend_xid is not null))
  order by a.xact_start limit 1)
union all
(select 'unseen', a.pid, null, coalesce(a.backend_xid, a.backend_xmin)::text, a.application_name,
        a.usename, null
   from pg_stat_activity a
  where a.pid <> pg_backend_pid() and a.xact_start is null
    and (a.backend_xid is not null or a.backend_xmin is not null)
    and coalesce(a.backend_type, 'client backend') = 'client backend'
    and (a.datname = current_database() or ($1::boolean and a.backend_xid is not null))
  order by age(coalesce(a.backend_xid, a.backend_xmin)) desc limit 1)
union all
(select 'prepared', null, (extract(epoch from clock_timestamp() - p.prepared) * 1000000)::bigint,
        p.transaction::text, p.gid, p.owner, null
   from pg_prepared_xacts p
  where p.database = current_database() or $1::boolean
  order by p.prepared limit 1)
union all
(select 'slot', s.active_pid, null, s.xmin::text, s.slot_name, null, null
   from pg_replication_slots s
  where $1::boolean and s.xmin is not null
  order by age(s.xmin) desc limit 1)
union all
(select 'standby', r.pid, null, r.backend_xmin::text, r.application_name, r.usename, null
   from pg_stat_replication r
  where $1::boolean and r.backend_xmin is not null
  order by age(r.backend_xmin) desc limit 1)
