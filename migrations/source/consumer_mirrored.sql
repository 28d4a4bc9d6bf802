-- $1 consumer: its mirror, and whether the server has been restored or promoted since. Since the clock was
-- told it has gone on as time does here, on a host whose clock may be another.
-- returns maybe: text, int, text, bool?
select position,
       clock + greatest(0, extract(epoch from clock_timestamp() - updated_at) * 1000000)::bigint,
       coalesce(letters, '{}'),
       timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
  from rowferry.consumer
 where reader = current_user and name = $1 and clock is not null
