-- $1 capture, $2 how many entries at most
select rowferry.prune($1::integer, $2::integer)
