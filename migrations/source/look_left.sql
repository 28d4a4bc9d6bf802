-- $1 capture: members that a consumer relies on although they are no longer part of the table.
-- returns any: text, text
select k.name, regexp_replace(o.line, '^\S+ \S+ ', '')
  from rowferry.consumer k
 cross join unnest(string_to_array(k.triggers, e'\n')) as o(line)
 where k.capture = $1::integer
   and e'\n' || rowferry.members($1::integer) not like
       '%' || e'\n' || split_part(o.line, ' ', 1) || ' %'
 order by 1, 2
 limit 10
