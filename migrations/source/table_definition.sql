-- $1 the table. One line a column, so that a change of the definition can be named.
-- returns one: text
select coalesce(string_agg(format('%s %s %s %s', attnum, atttypid, atttypmod, attname), e'\n'
                           order by attnum), '')
  from pg_attribute
 where attrelid = $1::oid and attnum > 0 and not attisdropped
