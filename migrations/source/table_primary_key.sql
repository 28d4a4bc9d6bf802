-- $1 the table
-- returns any: text
select a.attname
  from pg_index i
  cross join unnest(i.indkey) with ordinality as k(attnum, place)
  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
 where i.indrelid = $1::oid and i.indisprimary and k.place <= i.indnkeyatts
 order by k.place
