-- $1 schema, $2 table. Includes views, foreign tables and sequences, for a precise error. Before
-- version 14, reltuples is 0 if the table was never analysed.
-- returns maybe: int, text, text, bool, bool, bool, bool, int?, int, text?
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
       coalesce(c.relam = (select a.oid from pg_am a where a.amname = 'heap'), false),
       row_security_active(c.oid),
       (select case when bool_or(m.reltuples >= 0 and (m.relpages > 0 or v.knows)) then sum(greatest(m.reltuples, 0))::bigint
                    else -1 end
          from tree t join pg_class m on m.oid = t.oid,
               (select current_setting('server_version_num')::int >= 140000) v (knows)
         where m.relkind in ('r', 'm', 'f')),
       (select coalesce(sum(pg_relation_size(t.oid)), 0)::bigint from tree t),
       (select format('has the member %s, which %s', m.oid::regclass,
                      case when m.relkind = 'f' then 'is a foreign table, whose changes happen elsewhere'
                           when m.relpersistence <> 'p' then 'is temporary or unlogged, so that it can lose rows without a trace'
                           else 'inherits from another table too, through which writes would not be seen' end)
          from tree t join pg_class m on m.oid = t.oid
         where m.oid <> c.oid
           and (m.relkind = 'f' or m.relpersistence <> 'p'
                or exists (select from pg_inherits i where i.inhrelid = m.oid
                              and i.inhparent <> all (select oid from tree)))
         order by m.oid limit 1)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
