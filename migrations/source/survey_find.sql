-- $1 schema or null for all, $2 table: the relations of that name.
-- returns any: text, text, text, int
select n.nspname, c.relname, c.relkind, c.oid
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
   and case when $1::text is null
            then n.nspname not in ('pg_catalog', 'information_schema', 'rowferry')
                 and n.nspname !~ '^pg_(toast|temp)'
            else n.nspname = $1 end
 order by 1
