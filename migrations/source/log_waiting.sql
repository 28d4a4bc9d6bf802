-- $1 captures, $2 last, $3 and $4 the xid and seq up to which the following window was read (0:
-- nothing of it), $5 the largest number to count: returns the number of unread entries. A larger
-- number is estimated from the sequence numbers, which all captures share.
-- returns one: int
select coalesce(sum(case when newer.n < $5::bigint then newer.n
                         else greatest(newer.n, newer.last - newer.first + 1) end + waited.n), 0)::bigint
  from unnest($1::integer[]) as c(id)
 cross join lateral (
       select count(*) as n, min(f.seq) as first,
              (select l.seq from rowferry.change l
                where l.capture = c.id
                  and (l.xid, l.seq) > (greatest($3::xid8, pg_snapshot_xmax($2::pg_snapshot)), $4::bigint)
                order by l.xid desc, l.seq desc limit 1) as last
         from (select e.seq from rowferry.change e
                where e.capture = c.id
                  and (e.xid, e.seq) > (greatest($3::xid8, pg_snapshot_xmax($2::pg_snapshot)), $4::bigint)
                order by e.xid, e.seq limit $5::bigint) f) newer
 cross join lateral (
       select count(*) as n
         from (select from unnest(array(select pg_snapshot_xip($2::pg_snapshot))) as x(xid)
                cross join lateral (select from rowferry.change e
                                     where e.capture = c.id and e.xid = x.xid
                                     order by e.seq limit $5::bigint) e
                where $3::xid8 = '0'::xid8
                limit $5::bigint) f) waited
