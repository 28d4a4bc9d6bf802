-- $1 capture, $2 a transaction: returns true if it or later ones have entries
-- returns one: bool
select exists (select from (select from rowferry.change
                             where capture = $1::integer and xid >= $2::xid8
                             order by xid, seq limit 1) e)
