-- First part of a window: entries of transactions that were running in the last snapshot and have
-- ended in the target. $1 capture, $2 last, $3 target (null: this snapshot), $4 and $5 the entry
-- after which to continue, $6 limit. One short index scan per transaction, in their order.
-- returns any: text, int, text, text?
select c.xid::text, c.seq::text, c.op::text, c.key
  from unnest(array(select x from pg_snapshot_xip($2::pg_snapshot) x
                     where x >= $4::xid8 order by x)) as x(xid)
 cross join lateral (
    select e.xid, e.seq, e.op, e.key
      from rowferry.change e
     where e.capture = $1::integer and e.xid = x.xid
       and e.seq > case when x.xid = $4::xid8 then $5::bigint else 0 end
     order by e.seq
     limit $6::bigint) c
 where pg_visible_in_snapshot(x.xid, coalesce($3::pg_snapshot, (select case when pg_is_in_recovery()
                         then format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))::pg_snapshot
                         else pg_current_snapshot() end)))
 limit $6::bigint
