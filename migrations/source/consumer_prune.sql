-- $1 capture, $2 maximum number of entries
-- returns one: int
select rowferry.prune($1::integer, $2::integer)
