-- $1 capture, $2 age (null: any), $3 bytes of the log (null: any): expires this role's consumers
-- that keep entries and were absent for that long. If the entries of all captures exceed $3 at
-- about 128 bytes each, expires the slowest that was absent for an hour. Returns the expired ones.
-- returns any: text
update rowferry.consumer k set expired_at = now()
 where k.capture = $1::integer and k.reader = current_user and k.expired_at is null
   and exists (select from rowferry.change e where e.capture = k.capture and e.xid >= k.keep)
   and (k.updated_at < now() - $2::interval
        or (k.updated_at < now() - interval '1 hour'
            and pg_stat_get_live_tuples('rowferry.change'::regclass) > $3::bigint / 128
            and k.keep = (select o.keep from rowferry.consumer o
                           where o.capture = k.capture and o.expired_at is null
                           order by o.keep limit 1)))
returning k.name
