-- $1 a consumer whose position cannot be continued: marks its checkpoint backup as unusable
-- returns none
update rowferry.consumer set clock = null where reader = current_user and name = $1 and clock is not null
