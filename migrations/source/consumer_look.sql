-- $1 consumer, $2 capture, $3 the system's identifier (null: unknown): the consumer's row; also
-- whether this row alone keeps entries, and whether there are entries without a consumer. The facts
-- that the row relies on are read from a standby, all else from its primary. The third column is
-- the server's life: a recovery under the same postmaster does not change the start time, but
-- discards all statistics. The fourth is the pruning horizon, which is 0 in a copy of another
-- database. The recorded origin may lack the system's identifier too (rowferry.origin).
-- returns maybe: text?, text?, int, text?, text?, text?, text?, bool, bool, int, int, bool, text?, text, text, int
select c.position, c.triggers,
       greatest(1, 9223372036854775807 & hashtextextended(
           concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()), 0)),
       case when h.copied then '0' else p.horizon::text end,
       c.definition, c.filenode::text, c.versions,
       exists (select from (select from rowferry.change e
                             where e.capture = p.id and e.xid >= c.keep
                             order by e.xid, e.seq limit 1) e),
       exists (select from (select from rowferry.change e
                             where e.capture = p.id
                               and e.xid >= case when p.floor is null or h.copied then '0' else p.floor end
                               and e.xid < (select o.keep from rowferry.consumer o
                                             where o.capture = p.id and o.expired_at is null
                                             order by o.keep limit 1)
                             order by e.xid, e.seq limit 1) e),
       coalesce(c.clock, 0), coalesce(c.letters_sum, 0), c.expired_at is not null,
       c.updated_at::text, pg_snapshot_xmax(pg_current_snapshot())::text,
       coalesce(c.since::text, '0'), d.oid::bigint
  from rowferry.capture p
  join pg_database d on d.datname = current_database()
 cross join lateral (select p.origin <> all(array[d.oid::text, concat_ws('/', $3::text, d.oid)])
                            and ($3::text is not null or p.origin not like '%/' || d.oid) as copied) h
  left join rowferry.consumer c on c.capture = p.id and c.name = $1 and c.reader = current_user
 where p.id = $2::integer
