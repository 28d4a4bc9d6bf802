-- $1 the table. Domains are followed to their base type; an array is known by its element.
with recursive resolved as (
    select a.attnum, a.atttypid as base from pg_attribute a
     where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
    union all
    select r.attnum, t.typbasetype from resolved r join pg_type t on t.oid = r.base
     where t.typtype = 'd'
), element as (
    select r.attnum, e.oid as base from resolved r
      join pg_type t on t.oid = r.base join pg_type e on e.oid = t.typelem and e.typarray = t.oid
    union all
    select e.attnum, t.typbasetype from element e join pg_type t on t.oid = e.base
     where t.typtype = 'd'
)
select a.attname, b.typname,
       (select t.typname from element e join pg_type t on t.oid = e.base
         where e.attnum = a.attnum and t.typtype <> 'd'),
       format_type(a.atttypid, a.atttypmod), b.typtype, a.attnotnull,
       coalesce((select n.nspname from pg_opclass o
                   join pg_amop p on p.amopfamily = o.opcfamily and p.amoplefttype = o.opcintype
                                 and p.amoprighttype = o.opcintype and p.amopstrategy = 3
                   join pg_operator q on q.oid = p.amopopr
                   join pg_namespace n on n.oid = q.oprnamespace
                  where o.opcmethod = (select m.oid from pg_am m where m.amname = 'btree')
                    and o.opcdefault and o.opcintype = b.oid), 'pg_catalog')
  from pg_attribute a
  join resolved r on r.attnum = a.attnum
  join pg_type b on b.oid = r.base and b.typtype <> 'd'
 where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
 order by a.attnum
