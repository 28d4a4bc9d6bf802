-- $1 consumer, $2 capture: the consumer's row; also whether this row alone keeps entries, and
-- whether there are entries without a consumer. The facts that the row relies on are read from a
-- standby, all else from its primary. The third column is the server's life: a recovery under the
-- same postmaster does not change the start time, but discards all statistics. The fourth is the
-- pruning horizon, which is 0 in a copy of another database.
-- returns maybe: text?, text?, int, text?, text?, text?, text?, bool, bool, int, int, bool, text?, text, int?, text, int
select c.position, c.triggers,
       greatest(1, 9223372036854775807 & hashtextextended(
           concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()), 0)),
       case when p.origin <> concat_ws('/', s.system_identifier, d.oid) then '0' else p.horizon::text end,
       c.definition, c.filenode::text, c.versions,
       exists (select from (select from rowferry.change e
                             where e.capture = p.id and e.xid >= c.keep
                             order by e.xid, e.seq limit 1) e),
       exists (select from (select from rowferry.change e
                             where e.capture = p.id
                               and e.xid >= case when p.floor is null
                                                      or p.origin <> concat_ws('/', s.system_identifier, d.oid)
                                                 then '0' else p.floor end
                               and e.xid < (select o.keep from rowferry.consumer o
                                             where o.capture = p.id and o.expired_at is null
                                             order by o.keep limit 1)
                             order by e.xid, e.seq limit 1) e),
       coalesce(c.clock, 0), coalesce(c.letters_sum, 0), c.expired_at is not null,
       c.updated_at::text, pg_snapshot_xmax(pg_current_snapshot())::text,
       case when not pg_is_in_recovery()
            then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end,
       coalesce(c.since::text, '0'), d.oid::bigint
  from rowferry.capture p
  join pg_database d on d.datname = current_database()
 cross join pg_control_system() s
  left join rowferry.consumer c on c.capture = p.id and c.name = $1 and c.reader = current_user
 where p.id = $2::integer
