-- $1 consumer, $2 capture
select c.position, c.triggers, c.server_started = pg_postmaster_start_time(),
       p.horizon::text,
       exists (select from rowferry.change e where e.capture = p.id and e.xid >= c.keep)
  from rowferry.capture p
  left join rowferry.consumer c on c.capture = p.id and c.name = $1
 where p.id = $2::integer
