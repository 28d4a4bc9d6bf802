-- $1 a consumer whose position can no longer be gone on from: nothing is to be taken over
update rowferry.consumer set clock = null where name = $1 and clock is not null
