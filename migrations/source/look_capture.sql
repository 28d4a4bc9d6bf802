-- $1 the table, $2 its key columns: the installed version, the capture, its horizon.
select (select max(version) from rowferry.migration), c.id, c.horizon::text
  from (select 1) one
  left join rowferry.capture c on c.relation = $1::oid and c.key = $2::text[]
