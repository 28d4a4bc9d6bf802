-- $1 schema, $2 table
with recursive tree as (
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2
       and c.relkind in ('r', 'p', 'v', 'm', 'f')
    union
    select i.inhrelid from pg_inherits i join tree t on t.oid = i.inhparent
)
select c.oid, c.relkind, c.relpersistence,
       exists (select from pg_inherits i where i.inhparent = c.oid),
       exists (select from pg_inherits i where i.inhrelid = c.oid),
       exists (select from pg_subscription_rel s where s.srrelid = c.oid),
       coalesce(c.relam = (select a.oid from pg_am a where a.amname = 'heap'), false),
       row_security_active(c.oid),
       (select case when bool_or(m.reltuples >= 0) then sum(greatest(m.reltuples, 0))::bigint
                    else -1 end
          from tree t join pg_class m on m.oid = t.oid where m.relkind in ('r', 'm', 'f')),
       (select coalesce(sum(pg_relation_size(t.oid)), 0)::bigint from tree t)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
