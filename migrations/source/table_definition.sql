-- $1 the table, $2 columns (null: all). Returns one line per column, so that a change of the
-- definition can be named. Also returns the columns' versions in the catalog, which ALTER TABLE
-- changes and VACUUM FULL does not.
-- returns one: text, text
select coalesce(string_agg(format('%s %s %s %s', attnum, atttypid, atttypmod, attname), e'\n'
                           order by attnum), ''),
       coalesce(string_agg(attnum || ':' || xmin, ',' order by attnum)
                filter (where $2::name[] is null or attname = any($2::name[])), '')
  from pg_attribute
 where attrelid = $1::oid and attnum > 0 and not attisdropped
