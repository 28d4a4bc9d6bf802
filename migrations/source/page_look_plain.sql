-- $1 the table, $2 its name: the state of the table that a page checks, without a change log. Runs
-- under the page's lock; its snapshot is the page's.
-- returns one: text, bool, bool, int, int, text
select pg_current_snapshot()::text, pg_is_in_recovery(),
       coalesce(to_regclass($2)::oid = $1::oid, false), 0, 0, ''
