-- $1 table: the columns that this role may read.
-- returns any: text
select a.attname
  from pg_attribute a
 where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
   and has_column_privilege(a.attrelid, a.attnum, 'select')
