-- $1 consumer, $2 the captures of the dependencies of its query: removes its rows in others
-- returns none
select rowferry.leave($1, $2::integer[])
