-- $1 the table: rights of this role that no sync needs, each with a description and the statement
-- that revokes it; null if that would harm the owner of the table or an administrator.
-- returns any: text, text?
with role as (select r.oid, r.rolname, quote_ident(r.rolname) as quoted, r.rolcreaterole, r.rolcreatedb,
                     r.rolreplication, r.rolbypassrls
                from pg_roles r where r.rolname = current_user and not r.rolsuper),
     place as (select c.oid, c.relowner, c.relrowsecurity, format('%I.%I', n.nspname, c.relname) as quoted
                 from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where c.oid = $1::oid)
-- As a member of the owner a role passes row security, if it has no bypassrls.
select format('own %s', p.quoted), null
  from place p, role r
 where pg_has_role(r.oid, p.relowner, 'usage')
   and (r.oid = p.relowner or r.rolbypassrls or not p.relrowsecurity)
union all
select format('%s %s', string_agg(upper(w.name), ', ' order by w.place), p.quoted),
       format('revoke %s on %s from %s', string_agg(w.name, ', ' order by w.place), p.quoted, r.quoted)
  from place p, role r, (values (1, 'insert'), (2, 'update'), (3, 'delete'), (4, 'truncate')) w(place, name)
 where has_table_privilege(r.oid, p.oid, w.name) and not pg_has_role(r.oid, p.relowner, 'usage')
 group by p.quoted, r.quoted
union all
select 'create roles',
       case when not exists (select from pg_roles m
                              where pg_has_role(r.oid, m.oid, 'usage')
                                and exists (select from pg_shdepend d
                                             where d.refclassid = 'pg_authid'::regclass and d.refobjid = m.oid
                                               and d.deptype = 'o'))
            then format('alter role %s nocreaterole', r.quoted) end
  from role r where r.rolcreaterole
union all
select 'create databases', format('alter role %s nocreatedb', r.quoted) from role r where r.rolcreatedb
union all
select 'stream the write-ahead log', format('alter role %s noreplication', r.quoted)
  from role r where r.rolreplication
union all
select format('do what %s may', m.rolname), format('revoke %I from %s', m.rolname, r.quoted)
  from role r join pg_roles m on m.rolname in ('pg_write_all_data', 'pg_read_all_data',
                                               'pg_execute_server_program', 'pg_write_server_files',
                                               'pg_read_server_files')
 where pg_has_role(r.oid, m.oid, 'usage')
