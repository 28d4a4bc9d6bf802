-- $1 consumer, $2 the table, $3 newly mapped columns, $4 their types as returned by table_types:
-- adds the current definition of the columns to that on which the index relies. The first line of a
-- column counts.
-- returns none
update rowferry.consumer
   set definition = coalesce((select string_agg(format('%s %s %s %s', attnum, atttypid, atttypmod, attname), e'\n'
                                                order by attnum) || e'\n'
                                from pg_attribute
                               where attrelid = $2::oid and attname = any($3::name[]) and attnum > 0
                                 and not attisdropped), '') || definition || $4,
       clock = clock + greatest(0, extract(epoch from clock_timestamp() - updated_at) * 1000000)::bigint,
       updated_at = clock_timestamp()
 where reader = current_user and name = $1
