-- Candidates for the suggestion of a similar table name.
-- returns any: text, text
select n.nspname, c.relname
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
 order by 1, 2
 limit 5000
