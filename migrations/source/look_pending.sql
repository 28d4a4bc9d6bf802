-- $1 the tables as configured, $2 a snapshot: the number of entries of the tables that are not in
-- it. If a table has several captures, the one with the most entries counts.
-- returns one: int
select coalesce(sum(most), 0)
  from (select max(n) as most
          from (select p.relation, count(*) as n
                  from rowferry.change e
                  join rowferry.capture p on p.id = e.capture
                  join pg_class c on c.oid = p.relation
                  join pg_namespace s on s.oid = c.relnamespace
                 where (s.nspname || '.' || c.relname = any($1::text[])
                        or (s.nspname = 'public' and c.relname = any($1::text[])))
                   and (e.xid >= pg_snapshot_xmax($2::pg_snapshot)
                        or e.xid = any(array(select pg_snapshot_xip($2::pg_snapshot))))
                 group by p.relation, p.id) each
         group by relation) table_of
