-- $1 captures, $2 last, $3 whether entries are kept that could go, $4 whether it is a standby: has
-- anything come since, may the position move for those, or was it promoted? An idle poll is this one
-- question. With an order each part begins in the index where it has to, whatever the statistics say.
-- returns one: bool
select exists (
    select from unnest($1::integer[]) as c(id)
     where exists (select from (select from rowferry.change e
                                 where e.capture = c.id and e.xid >= pg_snapshot_xmax($2::pg_snapshot)
                                 order by e.xid, e.seq limit 1) e)
        or exists (select from unnest(array(select pg_snapshot_xip($2::pg_snapshot))) as x(xid)
                    cross join lateral (select from rowferry.change e
                                         where e.capture = c.id and e.xid = x.xid order by e.seq limit 1) e))
    or pg_is_in_recovery() <> $4::boolean
    or ($3::boolean and pg_snapshot_xmin(pg_current_snapshot()) > pg_snapshot_xmin($2::pg_snapshot))
