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
-- The key's text, over the alias r; since version 2.
alter table rowferry.capture add column if not exists expression text not null default '';
-- Whether each statement that changes rows also sends NOTIFY on channel rowferry_<id>; since version 3.
alter table rowferry.capture add column if not exists notify boolean not null default false;

-- One entry for each key and statement. op: U = read the key again, T = the table was truncated.
create table if not exists rowferry.change (
    capture integer not null,
    xid     xid8 not null default pg_current_xact_id(),
    seq     bigint generated always as identity (cache 1),
    op      "char" not null,
    key     text collate "C" -- null: a row whose key has a part that is null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000);

create index if not exists change_order on rowferry.change (capture, xid, seq);

-- Who reads a capture, and how far it is: the mirror of the position in the state file.
create table if not exists rowferry.consumer (
    name           text primary key,
    capture        integer not null references rowferry.capture,
    position       text not null,
    keep           xid8 not null, -- entries of this transaction and later ones are still needed
    triggers       text not null, -- rowferry.members, on which the position relies
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

-- Absent for so long that it keeps nothing any more; since version 4.
alter table rowferry.consumer add column if not exists expired_at timestamptz;
-- The transaction that wrote the row: positions that are older know another one; since version 5.
alter table rowferry.consumer add column if not exists since xid8;

-- The table and all its partitions, or all tables that inherit from it. One that is being detached
-- concurrently is gone (before version 14 pg_inherits has no inhdetachpending).
create or replace function rowferry.tree(relation regclass)
returns setof oid
language sql stable
set search_path = pg_catalog, pg_temp
as $tree$
    with recursive tree as (
        select tree.relation::oid as member
        union
        select i.inhrelid from pg_inherits i join tree t on t.member = i.inhparent
         where not coalesce((to_jsonb(i) ->> 'inhdetachpending')::boolean, false)
    )
    select member from tree
$tree$;

-- The tree of a capture with its triggers, a line for each member: "oid triggers name", by oid.
create or replace function rowferry.members(number integer)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $members$
    select string_agg(concat_ws(' ', m.member, coalesce(g.list, '-'),
                                replace(m.member::regclass::text, e'\n', ' ')), e'\n'
                      order by m.member)
      from rowferry.capture c
     cross join rowferry.tree(c.relation) as m(member)
     cross join lateral (
           select string_agg(concat_ws(':', g.tgname, g.tgenabled, g.oid, g.xmin, p.oid, p.xmin), ','
                             order by g.tgname) as list
             from pg_trigger g
             join pg_proc p on p.oid = g.tgfoid
             join pg_namespace n on n.oid = p.pronamespace
            where g.tgrelid = m.member and n.nspname = 'rowferry'
              and p.proname = 'capture_' || c.id) g
     where c.id = number
$members$;

-- Creates what is missing of one member's triggers. Statement triggers fire for the table that the
-- statement names, so every member has them. What logical replication applies has no statement: the
-- row trigger fires for it alone (and for whoever else sets session_replication_role to replica).
create or replace function rowferry.cover(number integer, member regclass)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $cover$
declare
    events text[] := array['insert', 'update', 'delete', 'truncate'];
    event  text;
    clause text;
begin
    if (select relkind from pg_class where oid = member) = 'r' then
        events := events || array['row'];
    end if;
    foreach event in array events loop
        continue when exists (
            select from pg_trigger g
             where g.tgrelid = member and g.tgname = format('rowferry_%s_%s', number, event)
               and g.tgfoid = to_regproc(format('rowferry.capture_%s', number))
               and g.tgenabled = case event when 'row' then 'R' else 'A' end);
        clause := case event
            when 'insert' then 'insert on %1$s referencing new table as new_rows'
            when 'update' then
                'update on %1$s referencing old table as old_rows new table as new_rows'
            when 'delete' then 'delete on %1$s referencing old table as old_rows'
            when 'row' then 'insert or update or delete on %1$s'
            else 'truncate on %1$s' end;
        execute format('drop trigger if exists rowferry_%s_%s on %s', number, event, member);
        execute format('create trigger rowferry_%1$s_%2$s after %3$s '
                       'for each %4$s execute function rowferry.capture_%1$s()',
                       number, event, format(clause, member),
                       case event when 'row' then 'row' else 'statement' end);
        execute format('alter table only %3$s enable %4$s trigger rowferry_%1$s_%2$s',
                       number, event, member, case event when 'row' then 'replica' else 'always' end);
    end loop;
end
$cover$;
revoke all on function rowferry.cover(integer, regclass) from public;

-- Installs the triggers of one table and all its members. `expression` is the key's text over the
-- alias r. The entries are written with the owner's rights, so a writer of the table needs none here.
-- Nobody writes meanwhile: consumers that rely on the triggers as they were rely on the new ones.
-- `notify`: whether they wake who reads, null: as it was.
drop function if exists rowferry.add_capture(regclass, text[], text); -- of version 2
create or replace function rowferry.add_capture(relation regclass, key text[], expression text,
                                                notify boolean default null)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $add$
declare
    number integer;
    wakes  boolean;
    body   text;
    was    text;
begin
    execute format('lock table %s in share row exclusive mode', relation);
    select c.id into number from rowferry.capture c
     where c.relation = add_capture.relation and c.key = add_capture.key;
    if number is null then
        insert into rowferry.capture (relation, key, horizon)
        values (add_capture.relation, add_capture.key, pg_snapshot_xmin(pg_current_snapshot()))
        returning id into number;
    end if;
    update rowferry.capture c
       set expression = add_capture.expression, notify = coalesce(add_capture.notify, c.notify)
     where c.id = number
       and (c.expression <> add_capture.expression or c.notify <> add_capture.notify);
    select c.notify into wakes from rowferry.capture c where c.id = number;
    was := rowferry.members(number);

    body := format($body$
begin
    if tg_level = 'ROW' then
        if tg_op <> 'INSERT' then
            insert into rowferry.change (capture, op, key)
            select %1$s, 'U', %2$s from (select (old).*) r;
        end if;
        if tg_op <> 'DELETE' then
            insert into rowferry.change (capture, op, key)
            select %1$s, 'U', %2$s from (select (new).*) r;
        end if;
    elsif tg_op = 'INSERT' then
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
    end if;%3$s
    return null;
end
$body$, number, expression, case when wakes then format($wake$
    if found then
        perform pg_notify('rowferry_%s', '');
    end if;$wake$, number) else '' end);

    if not exists (select from pg_proc p
                    where p.oid = to_regproc(format('rowferry.capture_%s', number))
                      and p.prosrc = body) then
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
    end if;

    perform rowferry.cover(number, m.member) from rowferry.tree(relation) as m(member);
    update rowferry.consumer k
       set triggers = (select string_agg(coalesce(n.line, o.line), e'\n' order by o.place)
                         from unnest(string_to_array(k.triggers, e'\n'))
                              with ordinality as o(line, place)
                         left join unnest(string_to_array(was, e'\n')) as w(line)
                           on w.line = o.line
                         left join unnest(string_to_array(rowferry.members(number), e'\n')) as n(line)
                           on split_part(n.line, ' ', 1) = split_part(w.line, ' ', 1))
     where k.capture = number;
    return number;
end
$add$;
revoke all on function rowferry.add_capture(regclass, text[], text, boolean) from public;

-- Takes members in that joined the tree since the consumers last looked, and says how many: called
-- until it says none. First they get triggers; then, in a transaction of its own and so with their
-- writes already seen, each of their rows gets an entry. A member that a consumer knows and that has
-- lost its triggers is left alone: that is for somebody to decide.
create or replace function rowferry.join_members(number integer)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, YMD'
set timezone = 'UTC'
set intervalstyle = 'iso_8601'
set extra_float_digits = 1
set bytea_output = 'hex'
set lc_monetary = 'C'
as $join$
declare
    c      rowferry.capture;
    member regclass;
    joined integer := 0;
    taken  oid[] := '{}'; -- another one may join meanwhile: it is for the next turn
begin
    select * into c from rowferry.capture where id = number for update;
    for member in
        select split_part(m.line, ' ', 1)::oid
          from unnest(string_to_array(rowferry.members(number), e'\n')) as m(line)
         where split_part(m.line, ' ', 2) = '-'
           and not exists (select from rowferry.consumer k
                            where k.capture = number
                              and e'\n' || k.triggers like
                                  '%' || e'\n' || split_part(m.line, ' ', 1) || ' %')
    loop
        perform rowferry.cover(number, member);
        joined := joined + 1;
    end loop;
    if joined > 0 then
        return joined;
    end if;
    for member in
        select split_part(m.line, ' ', 1)::oid
          from unnest(string_to_array(rowferry.members(number), e'\n')) as m(line)
         where split_part(m.line, ' ', 2) <> '-'
           and exists (select from rowferry.consumer k
                        where k.capture = number
                          and e'\n' || k.triggers not like
                              '%' || e'\n' || split_part(m.line, ' ', 1) || ' %')
    loop
        taken := taken || member::oid;
        execute format('insert into rowferry.change (capture, op, key) '
                       'select %s, ''U'', %s from only %s r', number, c.expression, member);
        joined := joined + 1;
    end loop;
    if joined > 0 then
        update rowferry.consumer k
           set triggers = (select string_agg(l.line, e'\n' order by split_part(l.line, ' ', 1)::oid)
                             from (select o.line
                                     from unnest(string_to_array(k.triggers, e'\n')) as o(line)
                                   union all
                                   select n.line
                                     from unnest(string_to_array(rowferry.members(number), e'\n'))
                                          as n(line)
                                    where split_part(n.line, ' ', 1)::oid = any(taken)
                                      and e'\n' || k.triggers not like
                                          '%' || e'\n' || split_part(n.line, ' ', 1) || ' %') l)
         where k.capture = number;
    end if;
    return joined;
end
$join$;
revoke all on function rowferry.join_members(integer) from public;

-- Removes the triggers of one capture, also from tables that left the tree, its entries and its
-- consumers.
create or replace function rowferry.drop_capture(relation regclass, key text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $drop$
declare
    number integer;
    it     record;
begin
    select c.id into number from rowferry.capture c
     where c.relation = drop_capture.relation and c.key = drop_capture.key;
    if number is null then
        return;
    end if;
    for it in
        select g.tgname, g.tgrelid::regclass as member from pg_trigger g
         where g.tgfoid = to_regproc(format('rowferry.capture_%s', number))
    loop
        execute format('drop trigger %I on %s', it.tgname, it.member);
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
    select keep into safe from rowferry.consumer
     where capture = number and expired_at is null order by keep limit 1;
    safe := coalesce(safe, pg_snapshot_xmin(pg_current_snapshot()));
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

-- Forgets a consumer that was given up, with its rows in the captures of tables that its query depends
-- on; where it was a capture's last one, the entries go with it. Says how many rows it had.
create or replace function rowferry.drop_consumer(given text)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $drop$
declare
    number  integer;
    dropped integer := 0;
begin
    for number in
        delete from rowferry.consumer
         where name = given or starts_with(name, given || ' on ') returning capture
    loop
        dropped := dropped + 1;
        if not exists (select from rowferry.consumer where capture = number) then
            perform rowferry.prune(number, 2147483647);
        end if;
    end loop;
    return dropped;
end
$drop$;
revoke all on function rowferry.drop_consumer(text) from public;

insert into rowferry.migration (version) values (5) on conflict do nothing;
