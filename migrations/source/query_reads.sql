-- The tables and views that this transaction has locked: what its statements read.
select c.oid, c.relkind,
       '"' || replace(n.nspname, '"', '""') || '"."' || replace(c.relname, '"', '""') || '"',
       has_table_privilege(c.oid, 'select'),
       case when c.relkind = 'v' then pg_get_viewdef(c.oid) end
  from pg_locks l
  join pg_class c on c.oid = l.relation
  join pg_namespace n on n.oid = c.relnamespace
 where l.locktype = 'relation' and l.pid = pg_backend_pid()
   and l.database = (select d.oid from pg_database d where d.datname = current_database())
   and c.relkind in ('r', 'p', 'v', 'm', 'f')
   and n.nspname not in ('pg_catalog', 'pg_toast', 'information_schema')
 group by c.oid, c.relkind, n.nspname, c.relname
 order by c.relkind <> 'p', n.nspname, c.relname
