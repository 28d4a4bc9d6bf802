-- $1 schema or null for all, $2 table: the relations of that name.
-- And the owner, if this session is a superuser's and that role is none.
-- returns any: text, text, text, int, text?
select n.nspname, c.relname, c.relkind, c.oid,
       (select r.rolname from pg_roles r, pg_roles s
         where r.oid = c.relowner and not r.rolsuper and s.rolname = session_user and s.rolsuper)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
   and case when $1::text is null
            then n.nspname not in ('pg_catalog', 'information_schema', 'rowferry')
                 and n.nspname !~ '^pg_(toast|temp)'
            else n.nspname = $1 end
 order by 1
