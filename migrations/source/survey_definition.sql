-- $1 a view: what it selects, as a statement; no row where it is none.
-- returns maybe: text
select rtrim(pg_get_viewdef(c.oid), '; ')
  from pg_class c
 where c.oid = $1::oid and c.relkind = 'v'
