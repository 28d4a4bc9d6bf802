-- $1 consumer, $2 where the table's rows are, $3 its columns' versions
update rowferry.consumer set filenode = $2::oid, versions = $3 where name = $1
