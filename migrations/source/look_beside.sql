-- $1 a table: third parties that the change log affects. The publications for all tables, which
-- include its tables (a subscriber without them stops). The table's owner, if pg_dump fails as that
-- role, because it may not read the schema or because row security hides rows there.
-- returns one: text?, text?
select (select string_agg(format('"%s"', p.pubname), ', ' order by p.pubname)
          from pg_publication p where p.puballtables),
       (select pg_get_userbyid(c.relowner) from pg_class c
         where c.oid = $1::oid
           and not pg_has_role(c.relowner, coalesce((select n.nspowner from pg_namespace n
                                                      where n.nspname = 'rowferry'),
                                                    (select r.oid from pg_roles r where r.rolname = current_user)),
                               'usage'))
