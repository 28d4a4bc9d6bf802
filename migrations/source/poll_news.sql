-- $1 captures, $2 last, $3 whether entries are kept that could be pruned, $4 whether this was a
-- standby. Returns true if there are new entries, if the position may move to allow pruning, if the
-- standby was promoted, or if a capture is hidden: this role may no longer read its table, so the
-- entries are hidden too. An idle poll is only this query. With ORDER BY each part begins at the
-- right place of the index, whatever the statistics are.
-- returns one: bool
select exists (
    select from unnest($1::integer[]) as c(id)
     where not exists (select from rowferry.capture k where k.id = c.id)
        or exists (select from (select from rowferry.change e
                                 where e.capture = c.id and e.xid >= pg_snapshot_xmax($2::pg_snapshot)
                                 order by e.xid, e.seq limit 1) e)
        or exists (select from unnest(array(select pg_snapshot_xip($2::pg_snapshot))) as x(xid)
                    cross join lateral (select from rowferry.change e
                                         where e.capture = c.id and e.xid = x.xid order by e.seq limit 1) e))
    or pg_is_in_recovery() <> $4::boolean
    or ($3::boolean and pg_snapshot_xmin(pg_current_snapshot()) > pg_snapshot_xmin($2::pg_snapshot))
