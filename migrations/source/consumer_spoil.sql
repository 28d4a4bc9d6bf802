-- $1 a consumer whose position can no longer be gone on from: nothing is to be taken over
-- returns none
update rowferry.consumer set clock = null where reader = current_user and name = $1 and clock is not null
