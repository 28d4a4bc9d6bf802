-- $1 the table, $2 the key columns: returns true if a unique index has exactly these columns
-- returns one: bool
select exists (
    select from pg_index i
     where i.indrelid = $1::oid and i.indisunique and i.indisvalid and i.indpred is null
       and i.indexprs is null
       and (select array_agg(a.attname::text order by a.attname::text collate "C")
              from unnest(i.indkey) with ordinality as k(attnum, place)
              join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
             where k.place <= i.indnkeyatts)
           = (select array_agg(c order by c collate "C") from unnest($2::text[]) c))
