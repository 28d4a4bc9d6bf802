-- $1 consumer, $2 capture. Entries that only this row keeps, and entries that nobody keeps.
select c.position, c.triggers, c.server_started = pg_postmaster_start_time(),
       p.horizon::text, c.definition, c.filenode::text, c.versions,
       exists (select from rowferry.change e where e.capture = p.id and e.xid >= c.keep),
       exists (select from rowferry.change e
                where e.capture = p.id
                  and e.xid < (select o.keep from rowferry.consumer o where o.capture = p.id
                                order by o.keep limit 1)),
       coalesce(c.clock, 0), coalesce(c.letters_sum, 0)
  from rowferry.capture p
  left join rowferry.consumer c on c.capture = p.id and c.name = $1
 where p.id = $2::integer
