-- $1 the table: roles other than its owner that may change or delete rows of its tree, each with a
-- description and the statement that revokes the right.
-- returns any: text, text
with recursive tree as (
    select $1::oid as oid
    union
    select i.inhrelid from pg_inherits i join tree t on t.oid = i.inhparent
)
select format('%s may %s %s', case a.grantee when 0 then 'everybody' else a.grantee::regrole::text end,
              string_agg(a.privilege_type, ', ' order by a.privilege_type), p.quoted),
       format('revoke %s on %s from %s', string_agg(lower(a.privilege_type), ', ' order by a.privilege_type),
              p.quoted, case a.grantee when 0 then 'public' else a.grantee::regrole::text end)
  from tree t
  join pg_class c on c.oid = t.oid
 cross join lateral (select format('%I.%I', n.nspname, c.relname) as quoted
                       from pg_namespace n where n.oid = c.relnamespace) p
 cross join lateral aclexplode(c.relacl) a
 where a.grantee <> c.relowner and a.privilege_type in ('UPDATE', 'DELETE', 'TRUNCATE')
 group by p.quoted, a.grantee
 order by p.quoted, a.grantee
