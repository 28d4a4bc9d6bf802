-- $1 capture, $2 a transaction: are there entries of it or of later ones?
-- returns one: bool
select exists (select from (select from rowferry.change
                             where capture = $1::integer and xid >= $2::xid8
                             order by xid, seq limit 1) e)
