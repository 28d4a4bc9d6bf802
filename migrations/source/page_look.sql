-- $1 the table, $2 its name, $3 the capture's id, $4 columns (null: all): what a page must find as it was. Runs
-- under the page's lock; its snapshot is the page's. A tree is stored where all its members are; what a virtual
-- column reads as is stored in the catalogue, in a new row for each expression (version 18 and later).
-- Last the columns' versions in the catalogue, which ALTER TABLE moves and VACUUM FULL does not: the table's own,
-- then a line for each member, "oid storage versions", by oid. A column of a member that was dropped and added
-- again is stored elsewhere, without another file. Virtual columns of all members read as the table's own do.
-- returns one: text, bool, bool, int?, int?, text?, text
select case when pg_is_in_recovery()
            then format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))
            else pg_current_snapshot()::text end,
       pg_is_in_recovery(),
       coalesce(to_regclass($2)::oid = $1::oid, false),
       s.storage,
       pg_relation_size($1::oid) / current_setting('block_size')::bigint,
       rowferry.members($3::integer),
       concat(own.list, s.members)
  from (select string_agg(a.attnum || ':' || a.xmin, ',' order by a.attnum) filter (where w.watched) as list,
               array_agg(a.attname) filter (where w.watched) as names,
               count(*) filter (where a.attisdropped) as dropped
          from pg_attribute a
         cross join lateral (select not a.attisdropped
                                    and ($4::name[] is null or a.attname = any($4::name[])) as watched) w
         where a.attrelid = $1::oid and a.attnum > 0) own
 cross join lateral (
       select case when count(*) = 1 and max(v.list) is null then max(f.node)
                   else (hashtext(string_agg(concat_ws(':', f.node, v.list), ',' order by m))::bigint
                         & 4294967295)::oid end as storage,
              string_agg(format(e'\n%s %s %s', m, concat_ws(':', coalesce(f.node, 0), v.dropped - own.dropped,
                                                             case when m = $1::oid then v.list end),
                                v.versions), '' order by m) as members
         from rowferry.tree($1::oid) as m
        cross join lateral (select pg_relation_filenode(m) as node) f
        cross join lateral (
              select string_agg((select d.oid::text from pg_attrdef d
                                  where d.adrelid = a.attrelid and d.adnum = a.attnum), ':' order by a.attnum)
                         filter (where a.attgenerated = 'v') as list,
                     hashtextextended(string_agg(a.attnum || ':' || a.xmin, ',' order by a.attnum)
                                      filter (where a.attname = any(own.names)), 0) as versions,
                     count(*) filter (where a.attisdropped) as dropped
                from pg_attribute a
               where a.attrelid = m and a.attnum > 0) v) s
