-- $1 the table; or $2, $3 and $4 the names, types and modifiers of a query's columns. Returns one
-- row for each column (owner 0), then one for each part of each of their types, without repeats: a
-- domain's base type, an array's element, a composite's fields, a range's bound, a multirange's
-- range. Before version 14 pg_range has no rngmultitypid. NOT NULL may be NOT VALID since version 18:
-- older rows may have NULL.
-- returns any: int, int, text?, text, text, text, text, bool, text
with recursive part as (
    select 0::oid as owner, a.attnum::int as place, a.attname as name, a.atttypid as type,
           a.atttypmod as modifier, a.attnotnull
           and not exists (select from pg_constraint n
                            where n.conrelid = a.attrelid and n.contype = 'n'
                              and n.conkey = array[a.attnum] and not n.convalidated) as not_null
      from pg_attribute a where a.attrelid = $1::oid and a.attnum > 0 and not a.attisdropped
    union all
    select 0, q.place::int, q.name, q.type, q.modifier, false
      from unnest($2::name[], $3::oid[], $4::int[]) with ordinality q (name, type, modifier, place)
    union
    select t.oid, m.place, m.name, m.type, m.modifier, false
      from part p join pg_type t on t.oid = p.type
     cross join lateral (
           select 0 as place, null::name as name, t.typbasetype as type, t.typtypmod as modifier
            where t.typtype = 'd'
           union all
           select 0, null, e.oid, -1 from pg_type e
            where e.oid = t.typelem and e.typarray = t.oid
           union all
           select a.attnum, a.attname, a.atttypid, a.atttypmod from pg_attribute a
            where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0
              and not a.attisdropped
           union all
           select 0, null, r.rngsubtype, -1 from pg_range r where r.rngtypid = t.oid
           union all
           select 0, null, r.rngtypid, -1 from pg_range r
            where t.typtype = 'm' and (to_jsonb(r) ->> 'rngmultitypid')::oid = t.oid) m
)
select p.owner, p.type, p.name, format_type(p.type, p.modifier), t.typname,
       case when exists (select from pg_type e where e.oid = t.typelem and e.typarray = t.oid)
            then 'a' else t.typtype end,
       t.typdelim, p.not_null,
       coalesce((select n.nspname from pg_opclass o
                   join pg_amop x on x.amopfamily = o.opcfamily and x.amoplefttype = o.opcintype
                                 and x.amoprighttype = o.opcintype and x.amopstrategy = 3
                   join pg_operator q on q.oid = x.amopopr
                   join pg_namespace n on n.oid = q.oprnamespace
                  where o.opcmethod = (select m.oid from pg_am m where m.amname = 'btree')
                    and o.opcdefault and o.opcintype = t.oid), 'pg_catalog')
  from part p join pg_type t on t.oid = p.type
 order by p.owner, p.place
