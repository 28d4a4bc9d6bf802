-- $1 the table. Returns whether this role may install the change log for it; the column with the
-- time of the last change, its index and whether it is NOT NULL; whether this role may read the
-- table. Columns with an index are preferred.
-- returns one: bool, text?, text?, bool?, bool
select current_setting('is_superuser')::boolean
       or (pg_has_role(c.relowner, 'usage')
           and coalesce((select pg_has_role(n.nspowner, 'usage') from pg_namespace n
                          where n.nspname = 'rowferry'),
                        has_database_privilege(current_database(), 'create'))),
       x.attname, x.index, x.not_null, has_table_privilege(c.oid, 'select')
  from pg_class c
  left join lateral (
       select a.attname, i.index,
              a.attnotnull
              and not exists (select from pg_constraint n
                               where n.conrelid = a.attrelid and n.contype = 'n'
                                 and n.conkey = array[a.attnum] and not n.convalidated) as not_null
         from pg_attribute a
         join pg_type t on t.oid = a.atttypid and t.typname in ('timestamptz', 'timestamp')
         left join lateral (
              select ic.relname as index
                from pg_index i
                join pg_class ic on ic.oid = i.indexrelid
                join pg_am m on m.oid = ic.relam and m.amname = 'btree'
               where i.indrelid = a.attrelid and i.indisvalid and i.indpred is null
                 and i.indkey[0] = a.attnum
               order by i.indnkeyatts desc, ic.relname limit 1) i on true
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and a.attname ~* '(updat|modif|chang|edit|touch|mtime)'
        order by i.index is null, t.typname = 'timestamp', not a.attnotnull, a.attnum
        limit 1) x on true
 where c.oid = $1::oid
