-- $1 a consumer that is no longer used, $2, $3 the halves of its advisory lock: unless the lock is
-- held, removes it with its rows in the captures of tables that its query depends on, so that their
-- entries may be pruned
-- returns one: bool
with free as materialized (select pg_try_advisory_xact_lock($2::integer, $3::integer) as it),
     gone as materialized (select rowferry.leave($1, null) from free where free.it)
select it from free left join gone on true
