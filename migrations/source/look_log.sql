-- The reason why the schema rowferry cannot be trusted: null if it can, no row if it does not
-- exist. Only the catalog is read, because objects in the schema may run code of their owner.
-- Foreign defaults, triggers, rules and the like would run with the rights of any role that writes
-- to the tables. An expression that calls only built-in functions has no dependencies on functions,
-- operators or types.
-- returns maybe: text?
select coalesce(
    case when current_setting('is_superuser')::boolean
              and not (select o.rolsuper from pg_roles o where o.oid = n.nspowner)
         then format('it belongs to "%s", and "%s" may do more than that role: what is in it would run with these rights',
                     pg_get_userbyid(n.nspowner), current_user) end,
    (select format('%s may create objects in it',
                   case a.grantee when 0 then 'everybody' else pg_get_userbyid(a.grantee) end)
       from aclexplode(n.nspacl) a where a.privilege_type = 'CREATE' and a.grantee <> n.nspowner limit 1),
    (select format('the function "%s" in it belongs to "%s"', p.proname, pg_get_userbyid(p.proowner))
       from pg_proc p
      where p.pronamespace = n.oid and p.proowner <> n.nspowner
        and pg_get_userbyid(p.proowner) <> 'rowferry_capture' limit 1),
    (select min(case
            when c.relowner <> n.nspowner
            then format('"%s" in it belongs to "%s"', c.relname, pg_get_userbyid(c.relowner))
            when c.relkind not in ('r', 'i', 'S') or c.relpersistence <> 'p' or c.relispartition
                 or (c.relhassubclass and exists (select from pg_inherits i where i.inhparent = c.oid))
            then format('"%s" in it is no table of its own', c.relname)
            when c.relhasrules and exists (select from pg_rewrite w where w.ev_class = c.oid)
            then format('the table "%s" in it has a rule', c.relname)
            when c.relhastriggers
                 and exists (select from pg_trigger g where g.tgrelid = c.oid and not g.tgisinternal)
            then format('the table "%s" in it has a trigger', c.relname)
            when c.relchecks > 0
            then format('the table "%s" in it has a condition', c.relname)
            when c.relrowsecurity
                 and exists (select from pg_policy p
                              where p.polrelid = c.oid
                                and (p.polname <> all('{reader,writer}')
                                     or exists (select from pg_depend d
                                                 where d.classid = 'pg_policy'::regclass and d.objid = p.oid
                                                   and not exists (select from pg_class x
                                                                    where d.refclassid = 'pg_class'::regclass
                                                                      and x.oid = d.refobjid
                                                                      and x.relnamespace = n.oid))))
            then format('the table "%s" in it has a policy that is not ours', c.relname)
            when c.relkind = 'r'
                 and exists (select from pg_attrdef t
                               join pg_depend d on d.classid = 'pg_attrdef'::regclass and d.objid = t.oid
                              where t.adrelid = c.oid and d.refclassid <> 'pg_class'::regclass)
            then format('the table "%s" in it has a default that is not ours', c.relname)
            when c.relkind = 'r'
                 and exists (select from pg_index i where i.indrelid = c.oid
                                and (i.indexprs is not null or i.indpred is not null))
            then format('an index of "%s" in it has an expression', c.relname)
            when c.relkind = 'r' and exists (select from pg_statistic_ext s where s.stxrelid = c.oid)
            then format('the table "%s" in it has statistics of somebody else', c.relname) end)
       from pg_class c where c.relnamespace = n.oid))
  from pg_namespace n
 where n.nspname = 'rowferry'
