-- $1 the table, $2 its key columns: the installed version, the capture, its horizon, and whether it
-- notifies (false for an earlier version without that column).
-- returns one: int?, int?, text?, bool
select (select max(version) from rowferry.migration), c.id, c.horizon::text,
       coalesce((to_jsonb(c) ->> 'notify')::boolean, false)
  from (select 1) one
  left join rowferry.capture c on c.relation = $1::oid and c.key = $2::text[]
