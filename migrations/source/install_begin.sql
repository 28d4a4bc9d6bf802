begin;
set local lock_timeout = '2s'; -- try again when it fails
set local client_encoding = 'UTF8';
set local standard_conforming_strings = on;
set local search_path = pg_catalog, pg_temp;

-- Nothing is touched in a schema that somebody else has had a hand in.
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
