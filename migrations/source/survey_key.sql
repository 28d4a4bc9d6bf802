-- $1 the table: the index whose columns identify a row best, and these columns. This is the primary
-- key, else a unique index, preferably with few columns that cannot be NULL.
-- returns any: text, text, bool, bool
with candidate as (
    select i.indexrelid, i.indrelid, i.indkey, i.indnkeyatts, c.relname, i.indisprimary,
           (select bool_and(a.attnotnull
                            and not exists (select from pg_constraint n
                                             where n.conrelid = a.attrelid and n.contype = 'n'
                                               and n.conkey = array[a.attnum] and not n.convalidated))
              from unnest(i.indkey) with ordinality as k(attnum, place)
              join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
             where k.place <= i.indnkeyatts) as filled
      from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indpred is null
       and i.indexprs is null
     order by i.indisprimary desc, filled desc, i.indnkeyatts, c.relname
     limit 1)
select a.attname, x.relname, x.indisprimary, x.filled
  from candidate x
 cross join unnest(x.indkey) with ordinality as k(attnum, place)
  join pg_attribute a on a.attrelid = x.indrelid and a.attnum = k.attnum
 where k.place <= x.indnkeyatts
 order by k.place
