-- $1 the table: rows that were written in its tree since the statistics began, and their age in
-- seconds.
-- returns one: int, int, int, int?
with recursive tree as (
    select $1::oid as oid
    union
    select i.inhrelid from pg_inherits i join tree t on t.oid = i.inhparent
)
select coalesce(sum(s.n_tup_ins), 0)::bigint, coalesce(sum(s.n_tup_upd), 0)::bigint,
       coalesce(sum(s.n_tup_del), 0)::bigint,
       (select greatest(extract(epoch from clock_timestamp() - greatest(
                   coalesce(d.stats_reset, pg_postmaster_start_time()), pg_postmaster_start_time())), 1)::bigint
          from pg_stat_database d where d.datname = current_database())
  from tree t left join pg_stat_user_tables s on s.relid = t.oid
