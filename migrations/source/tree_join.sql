-- $1 the capture
-- returns one: int
select rowferry.join_members($1::integer)
