-- Second part of a window: entries of transactions that began after the last snapshot and are over in
-- the target. Parameters as in page_waited. One lower bound only: of two, the scan may begin at the
-- lesser one and walk through all that was read before.
-- returns any: text, int, text, text?
select e.xid::text, e.seq::text, e.op::text, e.key
  from rowferry.change e
 where e.capture = $1::integer
   and (e.xid, e.seq) > (greatest($4::xid8, pg_snapshot_xmax($2::pg_snapshot)), $5::bigint)
   and pg_visible_in_snapshot(e.xid, coalesce($3::pg_snapshot, (select case when pg_is_in_recovery()
                         then format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))::pg_snapshot
                         else pg_current_snapshot() end)))
 order by e.xid, e.seq
 limit $6::bigint
