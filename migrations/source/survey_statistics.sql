-- $1 the table: the planner's statistics of its columns. For a tree those of the whole, else of the
-- largest member.
-- returns any: text, int, text
with recursive tree as (
    select $1::oid as oid
    union
    select i.inhrelid from pg_inherits i join tree t on t.oid = i.inhparent
)
select distinct on (s.attname) s.attname, s.avg_width, s.n_distinct
  from tree t
  join pg_class c on c.oid = t.oid
  join pg_namespace n on n.oid = c.relnamespace
  join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname
 order by s.attname, t.oid = $1::oid and s.inherited desc, c.reltuples desc, s.inherited desc
