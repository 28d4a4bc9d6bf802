-- $1 captures, $2 last, $3 target (null: this snapshot): the first of them with an entry in the
-- window.
-- returns one: int?
select min(c.id)
  from unnest($1::integer[]) as c(id)
 where exists (select from unnest(array(select pg_snapshot_xip($2::pg_snapshot))) as x(xid)
                cross join lateral (select from rowferry.change e
                                     where e.capture = c.id and e.xid = x.xid order by e.seq limit 1) e
                where pg_visible_in_snapshot(x.xid, coalesce($3::pg_snapshot, (select case when pg_is_in_recovery()
                         then format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))::pg_snapshot
                         else pg_current_snapshot() end))))
    or exists (select from (select from rowferry.change e
                             where e.capture = c.id and e.xid >= pg_snapshot_xmax($2::pg_snapshot)
                               and pg_visible_in_snapshot(e.xid, coalesce($3::pg_snapshot, (select case when pg_is_in_recovery()
                         then format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))::pg_snapshot
                         else pg_current_snapshot() end)))
                             order by e.xid, e.seq limit 1) e)
