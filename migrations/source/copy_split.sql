-- Values of a column that divide its rows into parts of about the same size, by the planner's
-- statistics; the table is not read. $1 table, $2 column, $3 whether of the tree, $4 a value after
-- which the parts begin or null, $5 number of parts. The empty branch has the column's own
-- collation, so that the order is that of its index.
with known as (
  select s.most_common_vals::text::text[] as common, s.most_common_freqs as shares,
         s.histogram_bounds::text::text[] as bounds
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname
   where c.oid = $1::oid and s.attname = $2 and s.inherited = $3::boolean
), weighed (value, weight) as (
  select t.{column}, 0::float8 from {table} t where false
   union all
  select f.value::{type}, f.share from known, unnest(common, shares) as f(value, share)
   union all
  select b.value::{type},
         greatest(0, 1 - coalesce((select sum(share) from unnest(shares) as share), 0)) / cardinality(bounds)
    from known, unnest(bounds) as b(value)
), ordered as (
  select value, sum(weight) over (order by value) / nullif(sum(weight) over (), 0) as share
    from weighed
   where $4::text is null or value operator({schema}.>) $4::text::{type}
), nearest as (
  select distinct on (part) part, value
    from ordered, generate_series(1, $5::integer - 1) as part
   where share < 1
   order by part, abs(share - part / $5::float8)
)
select value::text from nearest group by value order by value
