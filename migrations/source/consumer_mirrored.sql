-- $1 consumer: its mirror, and whether the server has been restored or promoted since.
select position, clock, coalesce(letters, '{}'),
       timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
  from rowferry.consumer
 where name = $1 and clock is not null
