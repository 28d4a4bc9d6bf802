-- $1 a consumer that will not come again: what only it needed may be pruned, its rows in the captures of
-- tables that its query depends on included
delete from rowferry.consumer where name = $1 or starts_with(name, $1 || ' on ')
