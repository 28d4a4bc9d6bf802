-- Second part of a window: entries of transactions that began after the last snapshot and are over in
-- the target. Parameters as in page_waited.
select e.xid::text, e.seq::text, e.op::text, e.key
  from rowferry.change e
 where e.capture = $1::integer and e.xid >= pg_snapshot_xmax($2::pg_snapshot)
   and (e.xid, e.seq) > ($4::xid8, $5::bigint)
   and pg_visible_in_snapshot(e.xid, coalesce($3::pg_snapshot, pg_current_snapshot()))
 order by e.xid, e.seq
 limit $6::bigint
