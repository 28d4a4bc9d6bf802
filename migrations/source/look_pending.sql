-- $1 the tables as configured, $2 a snapshot: the number of entries of the tables that are not in
-- it. If a table has several captures, the one with the most entries counts. NULL if a table has
-- none that this role sees: a role that may not read the table sees no entries either.
-- returns one: int?
select case when bool_and(relation is not null) then sum(most) end
  from (select p.relation,
               max((select count(*) from rowferry.change e
                     where e.capture = p.id
                       and (e.xid >= pg_snapshot_xmax($2::pg_snapshot)
                            or e.xid = any(array(select pg_snapshot_xip($2::pg_snapshot)))))) as most
          from unnest($1::text[]) as t(name)
          left join (rowferry.capture p
                     join pg_class c on c.oid = p.relation
                     join pg_namespace s on s.oid = c.relnamespace)
            on t.name = s.nspname || '.' || c.relname or (s.nspname = 'public' and t.name = c.relname)
         group by p.relation) table_of
