-- $1 a view: its query; no row if it is not a view.
-- returns maybe: text
select rtrim(pg_get_viewdef(c.oid), '; ')
  from pg_class c
 where c.oid = $1::oid and c.relkind = 'v'
