-- The share of a column's rows in some ranges of its values, by the planner's statistics; null if
-- there are none. $1 table, $2 column, $3 whether of the tree, $4 the values after which the ranges
-- begin and $5 those with which they end, null if a range has no such bound.
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
)
select coalesce(sum(w.weight) filter (where exists (
         select from unnest($4::text[], $5::text[]) as r(after, until)
          where (r.after is null or w.value operator({schema}.>) r.after::{type})
            and (r.until is null or not w.value operator({schema}.>) r.until::{type}))), 0)
       / nullif(sum(w.weight), 0)
  from weighed w
