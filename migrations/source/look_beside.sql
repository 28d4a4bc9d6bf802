-- $1 a table: whom the change log concerns beside its readers. The publications of all tables, which take its
-- tables in too (a subscriber that lacks them stops); and the table's owner, if pg_dump fails as that role
-- because it may not read the schema, or what row security hides there.
-- returns one: text?, text?
select (select string_agg(format('"%s"', p.pubname), ', ' order by p.pubname)
          from pg_publication p where p.puballtables),
       (select pg_get_userbyid(c.relowner) from pg_class c
         where c.oid = $1::oid
           and not pg_has_role(c.relowner, coalesce((select n.nspowner from pg_namespace n
                                                      where n.nspname = 'rowferry'),
                                                    (select r.oid from pg_roles r where r.rolname = current_user)),
                               'usage'))
