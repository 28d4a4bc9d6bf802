-- $1 consumer, $2 the captures of what its query depends on: its rows in others keep nothing any more
-- returns none
select rowferry.leave($1, $2::integer[])
