-- $1 the table, $2 whether the change log is read: the missing rights of this role, each with a
-- description and the statement that grants it.
-- returns any: text, text
with role as (select current_user as name, quote_ident(current_user) as quoted),
     place as (select c.oid, c.relnamespace as schema, n.nspname,
                      format('%I.%I', n.nspname, c.relname) as quoted
                 from pg_class c join pg_namespace n on n.oid = c.relnamespace
                where c.oid = $1::oid),
     wanted(place, missing, words, statement) as (
    select 1, not has_schema_privilege(p.schema, 'usage'), format('usage of schema "%s"', p.nspname),
           format('grant usage on schema %I to %s', p.nspname, r.quoted)
      from place p, role r
    union all
    select 2, not has_table_privilege(p.oid, 'select'),
           case when has_any_column_privilege(p.oid, 'select')
                then format('SELECT on all of %s (a lock on a table takes more than some columns)', p.quoted)
                else format('SELECT on %s', p.quoted) end,
           format('grant select on %s to %s', p.quoted, r.quoted)
      from place p, role r
    union all
    select 3, not has_schema_privilege(n.oid, 'usage'), 'usage of schema "rowferry"',
           format('grant usage on schema rowferry to %s', r.quoted)
      from pg_namespace n, role r where n.nspname = 'rowferry' and $2::boolean
    union all
    select 4, not has_table_privilege(c.oid, w.right), format('%s on rowferry.%s', upper(w.right), c.relname),
           format('grant %s on rowferry.%I to %s', w.right, c.relname, r.quoted)
      from pg_namespace n
      join pg_class c on c.relnamespace = n.oid
      join (values ('migration', 'select'), ('capture', 'select'), ('change', 'select'),
                   ('consumer', 'select'), ('consumer', 'insert')) w(relname, "right") on w.relname = c.relname,
           role r
     where n.nspname = 'rowferry' and $2::boolean
    union all
    select 4, u.missing <> '', format('UPDATE (%s) on rowferry.consumer', u.missing),
           format('grant update (%s) on rowferry.consumer to %s', u.missing, r.quoted)
      from role r,
           (select c.oid, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as missing
              from pg_namespace n join pg_class c on c.relnamespace = n.oid and c.relname = 'consumer'
              join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
             where n.nspname = 'rowferry' and $2::boolean and a.attname <> all('{name,reader}')
               and not has_column_privilege(c.oid, a.attnum, 'update')
             group by c.oid) u
    union all
    select 5, not has_function_privilege(f.oid, 'execute'),
           format('EXECUTE of rowferry.%s', f.proname),
           format('grant execute on function %s to %s', f.oid::regprocedure, r.quoted)
      from pg_namespace n
      join pg_proc f on f.pronamespace = n.oid and f.proname in ('prune', 'join_members'),
           role r
     where n.nspname = 'rowferry' and $2::boolean)
select words, statement from wanted where missing order by place, words
