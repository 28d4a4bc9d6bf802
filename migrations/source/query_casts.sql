-- $1 tables and views: columns whose type has its own "=" outside pg_catalog, and an implicit cast
-- to a built-in type. PostgreSQL uses that type's "=" if no other is in the search path: with ours
-- it would compare citext as text. Returns name, type, the schema of its operators, and the type it
-- would be cast to.
-- returns any: text, text, text, text
with recursive made as (
    select a.attname, a.atttypid as declared, a.atttypid as type
      from pg_attribute a where a.attrelid = any($1::oid[]) and a.attnum > 0 and not a.attisdropped
    union
    select m.attname, m.declared, t.typbasetype from made m join pg_type t on t.oid = m.type where t.typtype = 'd'
)
select m.attname, format_type(m.declared, null), quote_ident(n.nspname), min(format_type(x.casttarget, null))
  from made m
  join pg_type t on t.oid = m.type
  join pg_operator o on o.oprname = '=' and o.oprleft = t.oid and o.oprright = t.oid
  join pg_namespace n on n.oid = o.oprnamespace
  join pg_cast x on x.castsource = t.oid and x.castcontext = 'i'
  join pg_type b on b.oid = x.casttarget
 where n.nspname <> 'pg_catalog' and b.typnamespace = 'pg_catalog'::regnamespace
 group by m.attname, m.declared, n.nspname
 order by m.attname
