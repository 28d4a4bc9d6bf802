-- The tables and views that this transaction has locked, which are those that its statements read.
-- Members of a tree are left out if the parent is read.
-- returns any: int, text, text, bool?, text?, bool
select c.oid, c.relkind,
       '"' || replace(n.nspname, '"', '""') || '"."' || replace(c.relname, '"', '""') || '"',
       has_table_privilege(c.oid, 'select'),
       case when c.relkind = 'v' then pg_get_viewdef(c.oid) end,
       exists (select from pg_inherits i where i.inhparent = c.oid)
  from pg_locks l
  join pg_class c on c.oid = l.relation
  join pg_namespace n on n.oid = c.relnamespace
 where l.locktype = 'relation' and l.pid = pg_backend_pid()
   and l.database = (select d.oid from pg_database d where d.datname = current_database())
   and c.relkind in ('r', 'p', 'v', 'm', 'f')
   and n.nspname not in ('pg_catalog', 'pg_toast', 'information_schema')
   and not exists (select from pg_inherits i join pg_locks p on p.relation = i.inhparent
                    where i.inhrelid = c.oid and p.locktype = 'relation' and p.pid = l.pid
                      and p.database = l.database)
 group by c.oid, c.relkind, n.nspname, c.relname
 order by c.relkind <> 'p', n.nspname, c.relname
