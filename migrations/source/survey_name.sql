-- $1 a table: schema and name.
-- returns maybe: text, text
select n.nspname, c.relname
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.oid = $1::oid
