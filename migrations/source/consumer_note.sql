-- $1 consumer, $2 filenode of the table, $3 its columns' versions
-- returns none
update rowferry.consumer set filenode = $2::oid, versions = $3 where reader = current_user and name = $1
