-- A column of a table or query, as jsonb: for each path of its values, with arrays flattened, the
-- number of values of each kind. Parents come before their members.
with recursive sample as (
    select s.j from (select {column}::jsonb as j from {source}
                      where pg_column_size({column}) < 65536 limit 1000) s
     where s.j is not null
), walk as (
    select '{}'::text[] as path, j as value, false as listed from sample
    union all
    select case when m.name is null then w.path else w.path || m.name end, m.value, m.name is null
      from walk w
     cross join lateral (
           select k.key as name, k.value
             from jsonb_each(case jsonb_typeof(w.value) when 'object' then w.value
                                                        else '{}' end) k
           union all
           select null, e.value
             from jsonb_array_elements(case jsonb_typeof(w.value) when 'array' then w.value
                                                                  else '[]' end) e) m
     where cardinality(w.path) < 12
), found as (
    select path, listed, jsonb_typeof(value) as kind,
           case jsonb_typeof(value) when 'string' then value #>> '{}'
                                    when 'number' then value #>> '{}' end as scalar
      from walk
)
select cardinality(path), path[cardinality(path)],
       count(*) filter (where kind = 'object'), count(*) filter (where kind = 'object' and listed),
       count(*) filter (where kind = 'string'), count(*) filter (where kind = 'number'),
       count(*) filter (where kind = 'boolean'),
       count(*) filter (where kind = 'number' and scalar ~ '^-?[0-9]{1,18}$'),
       count(*) filter (where kind = 'string' and scalar ~
           '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$'),
       count(*) filter (where kind = 'string' and scalar like '% %'),
       coalesce(max(octet_length(scalar)) filter (where kind = 'string'), 0)
  from found
 group by path
 order by path collate "C"
 limit 2000
