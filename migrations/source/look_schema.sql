-- $1 a table. Returns whether the schema rowferry exists, whether this role may use it, whether it
-- has a change log, and its owner. Then whether the owner may have triggers on the table (or has
-- some that only the table's owner could enable). Then whether this role may install there: objects
-- must not run with more rights than those of the schema's owner. Last, the role that may install if
-- this one may not.
-- returns one: bool, bool, bool, text?, bool?, bool?, text?
select n.oid is not null,
       coalesce(has_schema_privilege(n.oid, 'usage'), false),
       (select count(*) = 2 from pg_class c where c.relnamespace = n.oid and c.relname = any('{migration,capture}')),
       o.rolname,
       o.rolsuper or o.rolname = current_user
       or exists (select from pg_class c where c.oid = $1::oid and pg_has_role(o.oid, c.relowner, 'usage'))
       or exists (select from pg_trigger g join pg_proc p on p.oid = g.tgfoid
                   where g.tgrelid = $1::oid and g.tgenabled = 'A' and p.pronamespace = n.oid),
       may.install,
       case when not (may.install and pg_has_role(t.relowner, 'usage'))
            then coalesce(o.rolname, pg_get_userbyid(t.relowner)) end
  from (select 1) one
  left join pg_namespace n on n.nspname = 'rowferry'
  left join pg_roles o on o.oid = n.nspowner
  left join pg_class t on t.oid = $1::oid
 cross join lateral (select n.oid is null or o.rolname = current_user
                            or (o.rolsuper and current_setting('is_superuser')::boolean)) may (install)
