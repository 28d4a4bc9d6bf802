-- $1 the table, $2 columns: returns true if an index begins with one of them
-- returns one: bool
select exists (select from pg_index i
                 join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
                where i.indrelid = $1::oid and i.indisvalid and i.indpred is null
                  and a.attname = any($2::name[]))
