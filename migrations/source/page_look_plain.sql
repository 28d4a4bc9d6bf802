-- $1 the table, $2 its name: what a page must find as it was, where nothing of ours is installed.
-- Runs under the page's lock; its snapshot is the page's.
-- returns one: text, bool, bool, int, int, text, text
select pg_current_snapshot()::text, pg_is_in_recovery(),
       coalesce(to_regclass($2)::oid = $1::oid, false), 0, 0, '', ''
