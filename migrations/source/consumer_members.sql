-- $1 consumer, $2 its table's members as they were noted, $3 those that are left
-- returns none
update rowferry.consumer set triggers = $3 where reader = current_user and name = $1 and triggers = $2
