-- $1 the table, $2 its name, $3 the capture's id: what a page must find as it was. Runs under the
-- page's lock; its snapshot is the page's.
select pg_current_snapshot()::text, pg_is_in_recovery(),
       coalesce(to_regclass($2)::oid = $1::oid, false), pg_relation_filenode($1::oid),
       pg_relation_size($1::oid) / current_setting('block_size')::bigint,
       (select coalesce(string_agg(concat_ws(' ', g.tgname, g.tgenabled, g.oid, g.xmin, p.oid, p.xmin),
                                   ',' order by g.tgname), '')
          from pg_trigger g join pg_proc p on p.oid = g.tgfoid
         where g.tgrelid = $1::oid and not g.tgisinternal
           and g.tgname = any(array['rowferry_' || $3::text || '_insert',
                                    'rowferry_' || $3::text || '_update',
                                    'rowferry_' || $3::text || '_delete',
                                    'rowferry_' || $3::text || '_truncate']))
