-- $1 the table, $2 the capture's id: the first event without a trigger as it was installed.
select e.event, g.tgname is null, g.tgenabled
  from unnest(array['insert', 'update', 'delete', 'truncate']) with ordinality as e(event, place)
  left join pg_trigger g
    on g.tgrelid = $1::oid and g.tgname = format('rowferry_%s_%s', $2::text, e.event)
   and g.tgfoid = (select p.oid from pg_proc p
                     join pg_namespace n on n.oid = p.pronamespace
                    where n.nspname = 'rowferry' and p.proname = 'capture_' || $2::text)
 where g.tgenabled is distinct from 'A'
 order by e.place
 limit 1
