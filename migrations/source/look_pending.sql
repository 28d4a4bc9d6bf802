-- $1 the table as configured, $2 a snapshot: entries of the table that it had not seen.
select coalesce(max(n), 0)
  from (select count(*) as n
          from rowferry.change e
          join rowferry.capture p on p.id = e.capture
          join pg_class c on c.oid = p.relation
          join pg_namespace s on s.oid = c.relnamespace
         where (s.nspname || '.' || c.relname = $1 or (s.nspname = 'public' and c.relname = $1))
           and (e.xid >= pg_snapshot_xmax($2::pg_snapshot)
                or e.xid = any(array(select pg_snapshot_xip($2::pg_snapshot))))
         group by p.id) each
