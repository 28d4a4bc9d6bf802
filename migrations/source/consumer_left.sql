-- $1 consumer, $2 the captures of what its query depends on: its rows in others keep nothing any more
delete from rowferry.consumer where starts_with(name, $1 || ' on ') and capture <> all($2::integer[])
