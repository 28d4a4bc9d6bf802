-- SPDX-License-Identifier: Apache-2.0
-- The change log: which keys of which tables changed, in which transaction.
--
-- rowferry.change says which rows to read again, the tables say what is in them. Everything here may
-- be run twice.

create schema if not exists rowferry;
revoke all on schema rowferry from public;

create table if not exists rowferry.migration (
    version    integer primary key,
    applied_at timestamptz not null default now()
);

-- A capture: one table and the columns that identify its rows; several pipelines may share it.
create table if not exists rowferry.capture (
    id       integer generated always as identity primary key,
    relation regclass not null,
    key      text[] not null,
    horizon  xid8 not null, -- entries of transactions before this one may be gone
    unique (relation, key)
);

-- One entry for each key and statement. op: U = read the key again, T = the table was truncated.
create table if not exists rowferry.change (
    capture integer not null,
    xid     xid8 not null default pg_current_xact_id(),
    seq     bigint generated always as identity (cache 1),
    op      "char" not null,
    key     text collate "C" -- null: a row whose key has a part that is null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000);

create index if not exists change_order on rowferry.change (capture, xid, seq);

-- Who reads a capture, and how far it is: the mirror of the position in the state file.
create table if not exists rowferry.consumer (
    name           text primary key,
    capture        integer not null references rowferry.capture,
    position       text not null,
    keep           xid8 not null, -- entries of this transaction and later ones are still needed
    triggers       text not null, -- the triggers on which the position relies
    definition     text not null, -- the table's, as the index was begun with
    filenode       oid not null,  -- where its rows are stored
    versions       text not null, -- of its columns in the catalogue: both new means rewritten
    server_started timestamptz not null,
    clock          bigint, -- mirrored with the position, as are the letters; null: nothing to take over
    letters        text,   -- the dead letters that are open
    letters_sum    bigint, -- of that text
    timeline       integer, -- of the server that the mirror was written to
    updated_at     timestamptz not null default now()
);

-- Installs the triggers of one table. `expression` is the key's text over the alias r. The entries are
-- written with the owner's rights, so a writer of the table needs none here.
create or replace function rowferry.add_capture(relation regclass, key text[], expression text)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $add$
declare
    number integer;
    body   text;
    event  text;
    tables text;
begin
    select c.id into number from rowferry.capture c
     where c.relation = add_capture.relation and c.key = add_capture.key;
    if number is null then
        insert into rowferry.capture (relation, key, horizon)
        values (add_capture.relation, add_capture.key, pg_snapshot_xmin(pg_current_snapshot()))
        returning id into number;
    end if;

    body := format($body$
begin
    if tg_op = 'INSERT' then
        insert into rowferry.change (capture, op, key)
        select %1$s, 'U', %2$s from new_rows r;
    elsif tg_op = 'UPDATE' then
        insert into rowferry.change (capture, op, key)
        select %1$s, 'U', k.key
          from (select %2$s as key from old_rows r union select %2$s from new_rows r) k;
    elsif tg_op = 'DELETE' then
        insert into rowferry.change (capture, op, key)
        select %1$s, 'U', %2$s from old_rows r;
    else
        insert into rowferry.change (capture, op, key) values (%1$s, 'T', '');
    end if;
    return null;
end
$body$, number, expression);

    execute format($function$
create or replace function rowferry.capture_%1$s() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD'
set timezone = 'UTC'
set intervalstyle = 'iso_8601'
set extra_float_digits = 1
set bytea_output = 'hex'
set lc_monetary = 'C'
as %2$L
$function$, number, body);
    execute format('revoke all on function rowferry.capture_%s() from public', number);

    foreach event in array array['insert', 'update', 'delete', 'truncate'] loop
        tables := case event
            when 'insert' then 'referencing new table as new_rows'
            when 'update' then 'referencing old table as old_rows new table as new_rows'
            when 'delete' then 'referencing old table as old_rows'
            else '' end;
        execute format('drop trigger if exists rowferry_%s_%s on %s', number, event, relation);
        execute format('create trigger rowferry_%1$s_%2$s after %2$s on %3$s %4$s '
                       'for each statement execute function rowferry.capture_%1$s()',
                       number, event, relation, tables);
        execute format('alter table %3$s enable always trigger rowferry_%1$s_%2$s',
                       number, event, relation);
    end loop;
    return number;
end
$add$;
revoke all on function rowferry.add_capture(regclass, text[], text) from public;

-- Removes the triggers of one capture, its entries and its consumers.
create or replace function rowferry.drop_capture(relation regclass, key text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $drop$
declare
    number integer;
    event  text;
begin
    select c.id into number from rowferry.capture c
     where c.relation = drop_capture.relation and c.key = drop_capture.key;
    if number is null then
        return;
    end if;
    foreach event in array array['insert', 'update', 'delete', 'truncate'] loop
        execute format('drop trigger if exists rowferry_%s_%s on %s', number, event, relation);
    end loop;
    execute format('drop function if exists rowferry.capture_%s()', number);
    delete from rowferry.consumer where capture = number;
    delete from rowferry.change where capture = number;
    delete from rowferry.capture where id = number;
end
$drop$;
revoke all on function rowferry.drop_capture(regclass, text[]) from public;

-- Removes at most `most` entries that no consumer of the capture needs any more, and remembers how far
-- that may have gone. One session at a time; another one does nothing.
create or replace function rowferry.prune(number integer, most integer)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $prune$
declare
    safe   xid8;
    pruned bigint;
begin
    perform from rowferry.capture where id = number for update skip locked;
    if not found then
        return 0;
    end if;
    select keep into safe from rowferry.consumer where capture = number order by keep limit 1;
    if safe is null then
        return 0;
    end if;
    update rowferry.capture set horizon = safe where id = number and horizon < safe;
    delete from rowferry.change
     where ctid = any(array(select ctid from rowferry.change
                             where capture = number and xid < safe
                             order by xid, seq limit most));
    get diagnostics pruned = row_count;
    return pruned;
end
$prune$;
revoke all on function rowferry.prune(integer, integer) from public;

insert into rowferry.migration (version) values (1) on conflict do nothing;
