-- $1 table, $2 column: its number in the table.
-- returns maybe: int
select a.attnum
  from pg_attribute a
 where a.attrelid = $1::oid and a.attname = $2
