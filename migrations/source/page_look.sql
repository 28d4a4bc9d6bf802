-- $1 the table, $2 its name, $3 the capture's id: the state of the table that a page checks. Runs
-- under the page's lock; its snapshot is the page's. The filenode of a tree is computed from all
-- members. The value of a virtual column depends on the catalog, which has a new row for each
-- expression (version 18 and later).
-- returns one: text, bool, bool, int?, int?, text?
select case when pg_is_in_recovery()
            then format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))
            else pg_current_snapshot()::text end,
       pg_is_in_recovery(),
       coalesce(to_regclass($2)::oid = $1::oid, false),
       (select case when count(*) = 1 and max(v.list) is null then max(pg_relation_filenode(m))
                    else (hashtext(string_agg(concat_ws(':', pg_relation_filenode(m), v.list), ',' order by m))::bigint
                          & 4294967295)::oid end
          from rowferry.tree($1::oid) as m
         cross join lateral (select string_agg(d.oid::text, ':' order by d.oid) as list
                               from pg_attribute a
                               join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
                              where a.attrelid = m and a.attgenerated = 'v') v),
       pg_relation_size($1::oid) / current_setting('block_size')::bigint,
       rowferry.members($3::integer)
