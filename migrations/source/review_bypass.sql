-- $1 the table, $2 a role that reads it, $3 whether this is a managed service, where nobody is a
-- superuser. If row security hides rows from the role: who may run which statement against that, this
-- role if it may. The best first; none: only the owner of the table, or a role with bypassrls, may read it.
-- returns any: text, text
with place as (
    select c.relowner as owner, c.relforcerowsecurity as forced, o.rolname, o.rolsuper, o.rolcreaterole,
           format('%I.%I', n.nspname, c.relname) as quoted, quote_ident(n.nspname) as schema,
           quote_ident(format('%s_%s_%s_owner', left(current_database(), 18), left(n.nspname, 18),
                              left(c.relname, 18))) as heir, quote_ident($2) as reader, r.oid as role,
           current_setting('server_version_num')::int >= 160000 as strict
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      join pg_roles o on o.oid = c.relowner
      left join pg_roles r on r.rolname = $2
     where c.oid = $1::oid and c.relrowsecurity and not coalesce(r.rolsuper or r.rolbypassrls, false)
       and (c.relforcerowsecurity or not coalesce(pg_has_role(r.oid, c.relowner, 'usage'), false))),
way (rank, who, statement) as (
    select 1, 'a superuser', format('alter role %s bypassrls', p.reader) from place p where not $3::boolean
    union all
    -- Since version 16 a role may give others what it has itself. Supabase permits it before, too.
    (select 2, format('"%s"', r.rolname), format('alter role %s bypassrls', p.reader)
       from place p join pg_roles r on r.rolcreaterole and r.rolbypassrls and r.rolcanlogin and not r.rolsuper
      where case when not p.strict then to_regrole('supabase_admin') is not null
                 else p.role is null or pg_has_role(r.oid, p.role, 'member with admin option') end
      order by r.rolname = current_user desc, r.oid = p.owner desc, r.rolname limit 1)
    union all
    -- Row security does not apply to members of the owner unless it is forced. An administrator who
    -- owns the table gives it to a role of its own first: its membership would be far too much, and
    -- since version 16 nobody may grant it.
    select 3, format('"%s"', p.rolname),
           format('create role %1$s; grant %1$s to current_user; grant create on schema %2$s to %1$s; '
                  'alter table %3$s owner to %1$s; revoke create on schema %2$s from %1$s; '
                  'grant %1$s to %4$s', p.heir, p.schema, p.quoted, p.reader)
      from place p
     where not p.forced and not p.rolsuper and p.rolcreaterole
    union all
    (select 4, format('"%s"', r.rolname), format('grant %I to %s', p.rolname, p.reader)
       from place p
       join pg_roles r on r.rolcanlogin and not r.rolsuper
                          and case when p.strict
                                   then r.oid <> p.owner and pg_has_role(r.oid, p.owner, 'member with admin option')
                                   else r.oid = p.owner or r.rolcreaterole end
      where not p.forced and not p.rolsuper and not p.rolcreaterole
      order by r.rolname = current_user desc, r.oid = p.owner desc, r.rolname limit 1))
select who, statement from way order by rank limit 2
