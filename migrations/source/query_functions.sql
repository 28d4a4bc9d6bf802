-- $1 functions as "schema.name". Returns those that users have created, with a hash of everything
-- that decides what each does.
-- returns any: text, text
select p.oid::regprocedure::text,
       to_hex(hashtextextended((to_jsonb(p) - array['oid', 'proowner', 'proacl', 'procost', 'prorows', 'proparallel',
                                                    'proleakproof', 'prosupport'])::text
                               || coalesce(to_jsonb(a)::text, ''), 0))
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  left join pg_aggregate a on a.aggfnoid = p.oid
 where n.nspname <> 'pg_catalog' and n.nspname || '.' || p.proname = any($1::text[])
 order by 1
