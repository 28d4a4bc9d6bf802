-- $1 capture, $2 a snapshot, $3 keys: those with an entry that the snapshot had not seen; a row of
-- NULL for an entry that may be about any of them.
-- returns any: text?
select distinct case when e.op not in ('A', 'T') then e.key end
  from rowferry.change e
 where e.capture = $1::integer
   and (e.xid >= pg_snapshot_xmax($2::pg_snapshot)
        or e.xid = any(array(select pg_snapshot_xip($2::pg_snapshot))))
   and (e.op in ('A', 'T') or e.key = any($3::text[]))
