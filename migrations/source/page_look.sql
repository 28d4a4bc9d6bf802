-- $1 the table, $2 its name, $3 the capture's id, $4 columns (null: all). Returns what must be
-- unchanged when a page is read. Runs under the page's lock; its snapshot is the page's.
-- The storage of a tree is that of all its members. A virtual column (version 18 and later) is
-- stored in the catalog: each new expression has a new row there.
-- The last column has the columns' versions in the catalog, which ALTER TABLE changes and VACUUM
-- FULL does not. First those of the table itself, then a line for each member, "oid storage
-- versions", ordered by oid. A member's column that was dropped and added again changes its storage
-- without a new file. Virtual columns of all members have the expression of the table's own.
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
