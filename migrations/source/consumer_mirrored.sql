-- $1 consumer, $2 the server's timeline (0: unknown): the checkpoint backup, and whether the server
-- is still on the same timeline (not restored or promoted), as far as known. The clock advances with the server's time since it was written, because
-- hosts' clocks may differ.
-- returns maybe: text, int, text, bool?
select position,
       clock + greatest(0, extract(epoch from clock_timestamp() - updated_at) * 1000000)::bigint,
       coalesce(letters, '{}'),
       timeline = $2::integer or 0 in (timeline, $2::integer)
  from rowferry.consumer
 where reader = current_user and name = $1 and clock is not null
