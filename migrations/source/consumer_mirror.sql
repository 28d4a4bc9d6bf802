-- $1 consumer, $2 position, $3 the oldest transaction that it still needs; never backwards.
update rowferry.consumer
   set position = $2, keep = $3::xid8, server_started = pg_postmaster_start_time(), updated_at = now()
 where name = $1 and keep <= $3::xid8
