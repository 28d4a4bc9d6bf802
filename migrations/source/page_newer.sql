-- Second part of a window: entries of transactions that began after the last snapshot and have
-- ended in the target. Parameters as in page_waited. There is only one lower bound: with two, the
-- scan might begin at the lesser one and read again all earlier entries.
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
