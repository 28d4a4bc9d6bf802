-- $1 tables: the foreign keys between them, one row for each pair of columns.
-- returns any: int, int, int, text, text, text, text, text, text, text, text, text, text, bool
select f.oid, f.conrelid, f.confrelid, cn.nspname, c.relname, pn.nspname, p.relname,
       quote_ident(cn.nspname) || '.' || quote_ident(c.relname),
       quote_ident(pn.nspname) || '.' || quote_ident(p.relname),
       a.attname, b.attname, quote_ident(a.attname), quote_ident(b.attname),
       a.atttypid = b.atttypid
  from pg_constraint f
 cross join unnest(f.conkey, f.confkey) with ordinality as k(child, parent, place)
  join pg_class c on c.oid = f.conrelid
  join pg_namespace cn on cn.oid = c.relnamespace
  join pg_class p on p.oid = f.confrelid
  join pg_namespace pn on pn.oid = p.relnamespace
  join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.child
  join pg_attribute b on b.attrelid = f.confrelid and b.attnum = k.parent
 where f.contype = 'f' and f.conparentid = 0
   and f.conrelid = any($1::oid[]) and f.confrelid = any($1::oid[])
 order by f.conrelid, f.conname, f.oid, k.place
