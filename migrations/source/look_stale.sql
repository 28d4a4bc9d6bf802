-- $1 capture: consumers that were absent for a day although entries are kept for them, or were kept
-- until they expired.
-- returns any: text, text
select c.name, to_char(c.updated_at at time zone 'UTC', 'YYYY-MM-DD')
  from rowferry.consumer c
 where c.capture = $1::integer and c.updated_at < now() - interval '1 day'
   and (c.expired_at is not null
        or exists (select from rowferry.change e where e.capture = c.capture and e.xid >= c.keep))
 order by c.updated_at
 limit 10
