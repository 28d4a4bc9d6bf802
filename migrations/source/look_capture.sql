-- $1 the table, $2 its key columns: the installed version, the capture, its horizon, and whether it
-- notifies (false for an earlier version without that column). Then the grant that this role lacks
-- to see the capture.
-- returns one: int?, int?, text?, bool, text?
select (select max(version) from rowferry.migration), c.id, c.horizon::text,
       coalesce((to_jsonb(c) ->> 'notify')::boolean, false),
       case when not has_any_column_privilege($1::oid, 'select')
            then format('grant select on %s to %I', $1::oid::regclass, current_user) end
  from (select 1) one
  left join rowferry.capture c on c.relation = $1::oid and c.key = $2::text[]
