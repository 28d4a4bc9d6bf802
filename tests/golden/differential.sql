-- The expected document, computed by PostgreSQL: to_jsonb(column), with the differences documented
-- in docs/types.md. Each difference has a name.

-- Applies the rule to a column's value; to each element if it is an array.
create function pg_temp.expect(j jsonb, rule text) returns jsonb language plpgsql as $$
declare
    t text := j #>> '{}';
begin
    if jsonb_typeof(j) = 'array' then
        return (select coalesce(jsonb_agg(pg_temp.expect(e, rule) order by n), '[]')
                  from jsonb_array_elements(j) with ordinality as x(e, n));
    elsif jsonb_typeof(j) = 'null' then
        return j;
    end if;
    return case rule
        when 'as to_jsonb' then j
        when 'char without its padding' then to_jsonb(rtrim(t, ' '))
        when 'timestamptz with six digits and Z'
            then to_jsonb(to_char(t::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        when 'timestamp with six digits' then to_jsonb(to_char(t::timestamp, 'YYYY-MM-DD"T"HH24:MI:SS.US'))
        when 'timestamptz as PostgreSQL writes it' then to_jsonb(t::timestamptz::text)
        when 'timestamp as PostgreSQL writes it' then to_jsonb(t::timestamp::text)
        when 'bytea as base64' then to_jsonb(translate(encode(t::bytea, 'base64'), E'\n', ''))
        when 'number as its digits' then to_jsonb(t)
        when 'oid as a number' then to_jsonb(t::bigint)
        when 'boolean as a word' then to_jsonb(t)
        when 'composite without its NULL fields' then jsonb_strip_nulls(j)
        when 'range as an object of its bounds' then (
            select jsonb_strip_nulls(jsonb_build_object(
                       case when lower_inc(r) then 'gte' else 'gt' end, lower(r),
                       case when upper_inc(r) then 'lte' else 'lt' end, upper(r)))
              from (select t::numrange) as x(r))
        when 'place as GeoJSON' then jsonb_build_object('type', 'Point', 'coordinates',
                                                         jsonb_build_array((t::point)[0], (t::point)[1]))
        when 'address without its mask' then to_jsonb(host(t::inet))
        when 'address with its bits' then to_jsonb(host(t::inet) || '/' || masklen(t::inet))
    end;
end $$;

create function pg_temp.outside(t text, low numeric, high numeric) returns boolean language sql as
    $$ select case when t in ('NaN', 'Infinity', '-Infinity') then true else t::numeric not between low and high end $$;

-- The same for a type that truncates the fraction first.
create function pg_temp.outside_cut(t text, low numeric, high numeric) returns boolean language sql as
    $$ select pg_temp.outside(trunc(t::numeric)::text, low, high) $$;

-- Returns true if the property cannot hold the value, so that the row must be refused.
create function pg_temp.unfit(j jsonb, property text) returns boolean language plpgsql as $$
declare
    t text := j #>> '{}';
begin
    if jsonb_typeof(j) = 'array' then
        return (select coalesce(bool_or(pg_temp.unfit(e, property)), false) from jsonb_array_elements(j) e);
    elsif jsonb_typeof(j) = 'null' then
        return false;
    end if;
    return case property
        when 'keyword' then octet_length(t) > 32766
        when 'padded keyword' then octet_length(rtrim(t, ' ')) > 32766
        when 'byte' then pg_temp.outside_cut(t, -128, 127)
        when 'short' then pg_temp.outside_cut(t, -32768, 32767)
        when 'integer' then pg_temp.outside(t, -2147483648, 2147483647)
        when 'long' then pg_temp.outside_cut(t, -9223372036854775808, 9223372036854775807)
        when 'unsigned_long' then pg_temp.outside_cut(t, 0, 18446744073709551615)
        -- a number that rounds to the type's largest finite number still fits
        when 'half_float' then pg_temp.outside(t, -65519.99999999, 65519.99999999)
        when 'float' then pg_temp.outside(t, -3.40282356e38, 3.40282356e38)
        when 'double' then pg_temp.outside(t, -1.79769313486231580e308, 1.79769313486231580e308)
        when 'date' then not isfinite(t::timestamp) or extract(year from t::timestamp) not between 1 and 9999
        when 'date_nanos' then t::timestamp not between '1970-01-01' and '2262-04-11 23:47:16.854775'
        else false
    end;
end $$;

create type pg_temp.pair as (a int4, b text);
create type pg_temp.mood as enum ('sad', 'so so', 'hap"py');
create domain pg_temp.amount as numeric(30, 5);
create domain pg_temp.note as text;
create domain pg_temp.big_amount as pg_temp.amount;
