-- $1 the table, $2 the column. Returns whether all rows are NOT NULL (NOT VALID exists since version
-- 18); whether an index begins with it; whether this role may see the activity of others; whether
-- the activity of all current and future sessions is tracked; whether this is a standby; the start
-- of the oldest prepared transaction; whether logical replication writes the table.
-- returns maybe: bool, bool, bool, bool, bool, text?, bool
select a.attnotnull
       and not exists (select from pg_constraint n
                        where n.conrelid = a.attrelid and n.contype = 'n'
                          and n.conkey = array[a.attnum] and not n.convalidated),
       exists (select from pg_index i
                 join pg_class c on c.oid = i.indexrelid
                 join pg_am m on m.oid = c.relam and m.amname = 'btree'
                where i.indrelid = a.attrelid and i.indisvalid and i.indpred is null
                  and i.indkey[0] = a.attnum),
       pg_has_role(current_user, 'pg_read_all_stats', 'usage'),
       current_setting('track_activities')::boolean
       and not exists (select from pg_stat_activity where datname = current_database() and state = 'disabled')
       and not exists (select from pg_db_role_setting s cross join unnest(s.setconfig) as c(line)
                        where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
                          and c.line like 'track_activities=%' and not split_part(c.line, '=', 2)::boolean),
       pg_is_in_recovery(),
       (select to_char(min(prepared), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from pg_prepared_xacts
         where database = current_database()),
       exists (select from pg_subscription_rel
                where srrelid = a.attrelid
                   or srrelid in (select relid from pg_partition_tree(a.attrelid)))
  from pg_attribute a
 where a.attrelid = $1::oid and a.attname = $2::name and not a.attisdropped
