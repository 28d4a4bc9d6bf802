-- $1 names in the notation of a plan: the first volatile function among them.
-- returns maybe: text
select name
  from unnest($1::text[]) as name
 where name = any(array['CURRENT_DATE', 'CURRENT_TIME', 'CURRENT_TIMESTAMP', 'LOCALTIME', 'LOCALTIMESTAMP'])
    or exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                where (n.nspname = 'pg_catalog' and p.proname = name
                       and (p.provolatile = 'v'
                            or name = any(array['now', 'transaction_timestamp', 'statement_timestamp'])))
                   or (n.nspname || '.' || p.proname = name and p.provolatile = 'v'))
 limit 1
