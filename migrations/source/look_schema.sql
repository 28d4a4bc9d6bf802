-- Is there a schema of ours, and may this role look into it?
select n.oid is not null,
       coalesce(has_schema_privilege(n.oid, 'usage'), false),
       exists (select from pg_class c where c.relnamespace = n.oid and c.relname = 'migration'),
       exists (select from pg_class c where c.relnamespace = n.oid and c.relname = 'capture')
  from (select 1) one
  left join pg_namespace n on n.nspname = 'rowferry'
