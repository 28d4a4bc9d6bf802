-- $1 capture, $2 a snapshot, $3 keys: returns the keys with an entry that is not in the snapshot,
-- and NULL for an entry that may affect any of them.
-- returns any: text?
select distinct case when e.op not in ('A', 'T') then e.key end
  from rowferry.change e
 where e.capture = $1::integer
   and (e.xid >= pg_snapshot_xmax($2::pg_snapshot)
        or e.xid = any(array(select pg_snapshot_xip($2::pg_snapshot))))
   and (e.op in ('A', 'T') or e.key = any($3::text[]))
