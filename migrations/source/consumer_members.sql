-- $1 consumer, $2 the recorded members of its table, $3 the remaining ones
-- returns none
update rowferry.consumer set triggers = $3 where reader = current_user and name = $1 and triggers = $2
