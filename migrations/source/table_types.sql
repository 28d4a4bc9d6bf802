-- $1 composite types and enums of the columns. One line for each field and each label, so that a
-- changed type can be distinguished from an added label.
-- returns one: text
select coalesce(string_agg(e'\n ' || line, '' order by line), '')
  from (select concat_ws(' ', 'field', to_json(a.attname), a.attnum, a.atttypid, a.atttypmod, t.oid) as line
          from pg_type t join pg_attribute a on a.attrelid = t.typrelid
         where t.oid = any($1::oid[]) and t.typtype = 'c' and a.attnum > 0 and not a.attisdropped
         union all
        select concat_ws(' ', 'label', to_json(e.enumlabel), e.oid, e.enumtypid)
          from pg_enum e where e.enumtypid = any($1::oid[])) l
