-- $1 the table, $2 the key columns. Returns true if a unique index has exactly these columns; why
-- triggers cannot record the key (virtual generated columns exist since version 18).
-- returns one: bool, text?
select exists (
    select from pg_index i
     where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indpred is null
       and i.indexprs is null
       and (select array_agg(a.attname::text order by a.attname::text collate "C")
              from unnest(i.indkey) with ordinality as k(attnum, place)
              join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
             where k.place <= i.indnkeyatts)
           = (select array_agg(c order by c collate "C") from unnest($2::text[]) c)),
       (select format('has the key column "%s", which is a virtual generated column and has no value in triggers',
                      min(a.attname))
          from pg_attribute a
         where a.attrelid = $1::oid and a.attname = any($2::text[]) and a.attgenerated = 'v'
        having count(*) > 0)
