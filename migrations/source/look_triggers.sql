-- $1 the table, $2 the capture's id: the first member and event whose trigger is missing or
-- changed.
-- returns maybe: text, bool, text, bool
select e.event, g.tgname is null, m.member::regclass::text, m.member = $1::oid
  from rowferry.tree($1::oid) as m(member)
  join pg_class c on c.oid = m.member
 cross join unnest(array['insert', 'update', 'delete', 'truncate', 'row'])
       with ordinality as e(event, place)
  left join pg_trigger g
    on g.tgrelid = m.member and g.tgname = format('rowferry_%s_%s', $2::text, e.event)
   and g.tgfoid = (select p.oid from pg_proc p
                     join pg_namespace n on n.oid = p.pronamespace
                    where n.nspname = 'rowferry' and p.proname = 'capture_' || $2::text)
 where g.tgenabled is distinct from case e.event when 'row' then 'R' else 'A' end
   and (e.event <> 'row' or c.relkind = 'r')
 order by m.member <> $1::oid, m.member, e.place
 limit 1
