begin;
set local lock_timeout = '2s'; -- run it again if this fails
set local client_encoding = 'UTF8';
set local standard_conforming_strings = on;
set local search_path = pg_catalog, pg_temp;

-- Does nothing if another role has objects in the schema.
do $look$
declare
    fault text := (
{look_log}
    );
begin
    if fault is not null then
        raise exception 'the schema "rowferry" cannot be trusted: %', fault;
    end if;
end
$look$;
