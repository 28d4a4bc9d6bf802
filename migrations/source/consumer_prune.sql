-- $1 capture, $2 how many entries at most
-- returns one: int
select rowferry.prune($1::integer, $2::integer)
