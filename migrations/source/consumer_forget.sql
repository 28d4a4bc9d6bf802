-- $1 a consumer that will not come again: what only it needed may be pruned
delete from rowferry.consumer where name = $1
