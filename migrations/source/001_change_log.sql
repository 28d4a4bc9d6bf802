-- SPDX-License-Identifier: Apache-2.0
-- The change log: which keys of which tables changed, in which transaction.
--
-- rowferry.change lists the rows to read again; their content is in the tables. Everything here may
-- be run twice.

-- Objects in a schema may run their owner's code with the rights of the installing role.
do $owner$
declare
    owner pg_roles;
begin
    select o.* into owner from pg_namespace n join pg_roles o on o.oid = n.nspowner where n.nspname = 'rowferry';
    if owner.rolname <> current_user
       and not (owner.rolsuper and (select rolsuper from pg_roles where rolname = current_user)) then
        raise exception 'the schema "rowferry" belongs to "%", and "%" installs', owner.rolname, current_user
              using errcode = 'RF001',
                    hint = format('install as "%s", or let that role remove its change log first', owner.rolname);
    end if;
end
$owner$;

create schema if not exists rowferry;
revoke all on schema rowferry from public;

create table if not exists rowferry.migration (
    version    integer primary key,
    applied_at timestamptz not null default now()
);

-- A capture: one table and the columns that identify its rows. Several pipelines may share it.
create table if not exists rowferry.capture (
    id       integer generated always as identity primary key,
    relation regclass not null,
    key      text[] not null,
    horizon  xid8 not null, -- entries of transactions before this one may be gone
    unique (relation, key)
);
-- The key's text, for the alias r; since version 2.
alter table rowferry.capture add column if not exists expression text not null default '';
-- If set, each statement that changes rows also sends NOTIFY on channel rowferry_<id>; since
-- version 3.
alter table rowferry.capture add column if not exists notify boolean not null default false;

-- The database and its server, or only the database on a server that does not show its identifier.
create or replace function rowferry.origin()
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $origin$
declare
    database oid := (select d.oid from pg_database d where d.datname = current_database());
begin
    return (select concat_ws('/', s.system_identifier, database) from pg_control_system() s);
exception when insufficient_privilege or object_not_in_prerequisite_state or feature_not_supported then
    return database;
end
$origin$;
revoke all on function rowferry.origin() from public;

-- The server and database whose transactions the horizon refers to, because a copy of the database
-- contains the row too; since version 6.
alter table rowferry.capture add column if not exists origin text;
update rowferry.capture
   set origin = rowferry.origin(),
       horizon = least(horizon, pg_snapshot_xmin(pg_current_snapshot()))
 where origin is null;

-- All entries of earlier transactions are pruned. Their index entries may remain while an old
-- snapshot could still see them, so scans begin here; since version 6.
alter table rowferry.capture add column if not exists floor xid8;

-- One entry for each key and statement. The values of op:
-- U = read the key again, T = the table was truncated,
-- L = a row has a key of more than 8,192 bytes, which is truncated (no document has such a key),
-- M = a row with such a key was deleted,
-- A = any row may have changed, because a column of the key was missing.
create table if not exists rowferry.change (
    capture integer not null,
    xid     xid8 not null default pg_current_xact_id(),
    seq     bigint generated always as identity (cache 1),
    op      "char" not null,
    key     text collate "C" -- null: a row whose key has a part that is null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 50000);

-- A publication FOR ALL TABLES includes this table. Without a replica identity it could not be
-- pruned then.
alter table rowferry.change replica identity full;

create index if not exists change_order on rowferry.change (capture, xid, seq);

-- The readers of a capture and their progress: the backup of the position in the state file.
create table if not exists rowferry.consumer (
    name           text primary key,
    capture        integer not null references rowferry.capture,
    position       text not null,
    keep           xid8 not null, -- entries of this transaction and later ones are still needed
    triggers       text not null, -- rowferry.members, on which the position relies
    definition     text not null, -- the table's, as the index was begun with
    filenode       oid not null,  -- where its rows are stored
    versions       text not null, -- of its columns in the catalogue: both new means rewritten
    clock          bigint, -- mirrored with the position, as are the letters; null: nothing to take over
    letters        text,   -- the dead letters that are open
    letters_sum    bigint, -- of that text
    timeline       integer, -- of the server that the mirror was written to
    updated_at     timestamptz not null default now()
);

-- Of version 5 and before: start time of the server.
alter table rowferry.consumer drop column if exists server_started;
-- Set if the consumer was absent for so long that nothing is kept for it; since version 4.
alter table rowferry.consumer add column if not exists expired_at timestamptz;
-- The transaction that wrote the row, for recognising older positions; since version 5.
alter table rowferry.consumer add column if not exists since xid8;
-- The role that registered the row; since version 6. The row of an earlier version belongs to the
-- only role with rights on the table, or else to its owner.
do $reader$
begin
    if not exists (select from pg_attribute
                    where attrelid = 'rowferry.consumer'::regclass and attname = 'reader') then
        alter table rowferry.consumer add column reader name not null default current_user;
        update rowferry.consumer
           set reader = coalesce((select case when count(*) = 1 then min(a.grantee::regrole::text) end
                                    from pg_class c cross join aclexplode(c.relacl) a
                                   where c.oid = 'rowferry.consumer'::regclass and a.grantee <> 0
                                     and a.grantee <> c.relowner and a.privilege_type = 'INSERT'),
                                 current_user);
        alter table rowferry.consumer drop constraint consumer_pkey, add primary key (reader, name);
    end if;
end
$reader$;

-- A reader sees the captures of tables with a column that it may select, their entries, and the
-- consumers that it registered itself. Functions of these tables' owner are not limited.
alter table rowferry.capture enable row level security;
alter table rowferry.change enable row level security;
alter table rowferry.consumer enable row level security;
drop policy if exists reader on rowferry.capture;
create policy reader on rowferry.capture for select
       using (has_any_column_privilege(relation, 'select'));
drop policy if exists reader on rowferry.change;
create policy reader on rowferry.change for select
       using (capture = any(array(select c.id from rowferry.capture c)));
drop policy if exists reader on rowferry.consumer;
create policy reader on rowferry.consumer
       using (reader = current_user)
       with check (reader = current_user and capture = any(array(select c.id from rowferry.capture c)));

-- Keys that are too long for a document, from before version 6.
update rowferry.change set op = 'L', key = left(key, 513) where octet_length(key) > 8192;

-- The trigger functions run with the rights of a role that may only write entries, if the
-- installing role may create one.
do $writer$
declare
    me  pg_roles;
    him pg_roles;
begin
    select * into me from pg_roles where rolname = current_user;
    if (me.rolsuper or me.rolcreaterole) and to_regrole('rowferry_capture') is null then
        begin
            create role rowferry_capture nologin noinherit;
        exception when duplicate_object or unique_violation then
            null; -- another database of the server has just been given a change log
        end;
    end if;
    select * into him from pg_roles where rolname = 'rowferry_capture';
    if not found then
        return;
    end if;
    if him.rolcanlogin or him.rolsuper or him.rolcreaterole or him.rolcreatedb or him.rolreplication
       or him.rolbypassrls
       or exists (select from pg_auth_members m where m.member = him.oid)
       or exists (select from pg_auth_members m join pg_roles r on r.oid = m.member
                   where m.roleid = him.oid and not r.rolsuper and not r.rolcreaterole) then
        raise exception 'role "rowferry_capture" has members, memberships or rights, and needs none'
              using errcode = 'RF001', hint = 'drop the role, or take them away';
    end if;
    grant usage on schema rowferry to rowferry_capture;
    grant insert on rowferry.change to rowferry_capture;
    drop policy if exists writer on rowferry.change;
    create policy writer on rowferry.change for insert to rowferry_capture with check (true);
end
$writer$;

-- The table and all its partitions, or all tables that inherit from it. A partition that is being
-- detached concurrently is left out (before version 14 pg_inherits has no inhdetachpending).
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

-- The tree of a capture with its triggers, one line for each member: "oid triggers name", by oid.
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

-- Creates the missing triggers of one member. Statement triggers fire for the table that the
-- statement names, so every member has them. Logical replication applies rows without a statement.
-- The row trigger fires only for it (and for other sessions that set session_replication_role to
-- replica).
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

-- The columns op and key of an entry, for the alias k with a key's text and whether its row was
-- deleted. `missing`: a condition that a column of the key no longer exists, evaluated only if the
-- key is null.
drop function if exists rowferry.entry(); -- of version 5
create or replace function rowferry.entry(missing text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $entry$
    select format($$case when octet_length(k.key) <= 8192 then 'U'
                        when k.key is null then case when %s then 'A' else 'U' end
                        when k.gone then 'M' else 'L' end,
                   case when octet_length(k.key) > 8192 then left(k.key, 513) else k.key end$$, missing)
$entry$;
revoke all on function rowferry.entry(text) from public;

-- Gives the trigger function of a capture to the role that may only write entries. If that is
-- impossible, the function runs with the rights of the installing role. That must then be the
-- table's owner, or a role whose rights the owner has as well.
create or replace function rowferry.disown(number integer, relation regclass)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $disown$
declare
    owner name;
begin
    if (select p.proowner = to_regrole('rowferry_capture') from pg_proc p
         where p.oid = to_regproc(format('rowferry.capture_%s', number))) then
        return;
    end if;
    begin
        if not (select rolsuper from pg_roles where rolname = current_user) then
            execute format('grant rowferry_capture to %I', current_user);
        end if;
        grant create on schema rowferry to rowferry_capture;
        execute format('alter function rowferry.capture_%s() owner to rowferry_capture', number);
        revoke create on schema rowferry from rowferry_capture;
        return;
    exception when insufficient_privilege or undefined_object then
        null; -- the role does not exist, or this one may not use it
    end;
    select r.rolname into owner from pg_class c join pg_roles r on r.oid = c.relowner where c.oid = relation;
    if not pg_has_role(owner, current_user, 'member') then
        raise exception '% belongs to "%", and "%" may do more than that role', relation, owner, current_user
              using errcode = 'RF001',
                    hint = format('install as "%s", or as a role that may create roles', owner);
    end if;
end
$disown$;
revoke all on function rowferry.disown(integer, regclass) from public;

-- Installs the triggers of one table and all its members. `expression` is the key's text for the
-- alias r. Entries are written with the rights of the function's owner, so a writer of the table
-- needs none here. The expression calls no user-defined function (see source/keytext.h).
-- The table is locked against writes, so consumers that rely on the old triggers can rely on the
-- new ones.
-- `notify`: whether the triggers notify readers, null: unchanged.
drop function if exists rowferry.add_capture(regclass, text[], text); -- of version 2
create or replace function rowferry.add_capture(relation regclass, key text[], expression text,
                                                notify boolean default null)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $add$
declare
    number  integer;
    wakes   boolean;
    columns text;
    missing text;
    names   text;
    body    text;
    was     text;
begin
    execute format('lock table %s in share row exclusive mode', relation);
    select c.id into number from rowferry.capture c
     where c.relation = add_capture.relation and c.key = add_capture.key;
    if number is null then
        insert into rowferry.capture (relation, key, horizon, origin)
        values (add_capture.relation, add_capture.key, pg_snapshot_xmin(pg_current_snapshot()), rowferry.origin())
        returning id into number;
    end if;
    update rowferry.capture c
       set expression = add_capture.expression, notify = coalesce(add_capture.notify, c.notify)
     where c.id = number
       and (c.expression <> add_capture.expression or c.notify <> add_capture.notify);
    select c.notify into wakes from rowferry.capture c where c.id = number;
    was := rowferry.members(number);

    -- A key column that was renamed or dropped must not make the writer fail. Its name then refers
    -- to the column of the same name one query further out, which has a type that no table can
    -- have.
    columns := (select string_agg(quote_ident(k.name), ', ' order by k.place)
                  from unnest(key) with ordinality as k(name, place));
    missing := (select string_agg(format('pg_typeof(r.%I) = ''void''::regtype', k.name), ' or ' order by k.place)
                  from unnest(key) with ordinality as k(name, place));
    names := (select string_agg(format('null::void as %I', k.name), ', ' order by k.place)
                from unnest(key) with ordinality as k(name, place));
    body := format($body$
#variable_conflict use_column
begin
    if tg_level = 'ROW' then
        if tg_op <> 'INSERT' then
            insert into rowferry.change (capture, op, key)
            select %1$s, %3$s
              from (select %6$s) f
             cross join lateral (select %2$s as key, true as gone, %7$s as missing
                                   from (select %5$s from (select (old).*) o) r) k;
        end if;
        if tg_op <> 'DELETE' then
            insert into rowferry.change (capture, op, key)
            select %1$s, %3$s
              from (select %6$s) f
             cross join lateral (select %2$s as key, false as gone, %7$s as missing
                                   from (select %5$s from (select (new).*) n) r) k;
        end if;
    elsif tg_op = 'INSERT' then
        insert into rowferry.change (capture, op, key)
        select %1$s, %3$s
          from (select %6$s) f
         cross join lateral (select %2$s as key, false as gone, %7$s as missing
                               from (select %5$s from new_rows) r) k;
    elsif tg_op = 'UPDATE' then
        insert into rowferry.change (capture, op, key)
        select %1$s, %4$s
          from (select %6$s) f
         cross join lateral (
               select r.key, bool_and(r.gone) as gone
                 from (select %2$s as key, true as gone from (select %5$s from old_rows) r
                       union all select %2$s, false from (select %5$s from new_rows) r) r
                group by r.key) k;
    elsif tg_op = 'DELETE' then
        insert into rowferry.change (capture, op, key)
        select %1$s, %3$s
          from (select %6$s) f
         cross join lateral (select %2$s as key, true as gone, %7$s as missing
                               from (select %5$s from old_rows) r) k;
    else
        insert into rowferry.change (capture, op, key) values (%1$s, 'T', '');
    end if;%8$s
    return null;
end
$body$, number, expression, rowferry.entry('k.missing'),
        rowferry.entry(format('(select %s from (select %s from new_rows limit 1) r)', missing, columns)),
        columns, names, missing, case when wakes then format($wake$
    if found then
        perform pg_notify('rowferry_%s', '');
    end if;$wake$, number) else '' end);

    if not exists (select from pg_proc p
                    where p.oid = to_regproc(format('rowferry.capture_%s', number))
                      and p.prosrc = body and 'quote_all_identifiers=off' = any(p.proconfig)) then
        execute format($function$
create or replace function rowferry.capture_%1$s() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set row_security = on
set datestyle = 'ISO, YMD'
set timezone = 'UTC'
set intervalstyle = 'iso_8601'
set extra_float_digits = 1
set bytea_output = 'hex'
set lc_monetary = 'C'
set quote_all_identifiers = off
as %2$L
$function$, number, body);
        execute format('revoke all on function rowferry.capture_%s() from public', number);
    end if;
    perform rowferry.disown(number, relation);

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

-- Returns true if a role may read the table of a capture, completely or at least a column. Only
-- then may it call the functions below.
create or replace function rowferry.reaches(reader name, number integer, whole boolean)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $reaches$
    select reader = current_user
           or exists (select from rowferry.capture c
                       where c.id = number
                         and case when whole then has_table_privilege(reader, c.relation, 'select')
                                  else has_any_column_privilege(reader, c.relation, 'select') end)
$reaches$;
revoke all on function rowferry.reaches(name, integer, boolean) from public;

-- The roles whose consumers belong to the caller, which may have changed its role by "set role".
create or replace function rowferry.readers()
returns name[]
language sql stable
set search_path = pg_catalog, pg_temp
as $readers$
    select array(select r.rolname from pg_roles r
                  where r.rolname = session_user
                     or (pg_has_role(session_user, r.oid, 'member')
                         and not (select s.rolsuper from pg_roles s where s.rolname = session_user)))
$readers$;
revoke all on function rowferry.readers() from public;

-- Adds members that joined the tree since the consumers last looked, and returns their number. It
-- is called until it returns 0. First they get triggers. Then, in another transaction that already
-- sees their writes, each of their rows gets an entry. If the rows belong to another role than this
-- function's owner, they are not read: consumers that do not know the member are removed and make a
-- re-snapshot. A member that a consumer knows and that has lost its triggers is not changed. Only
-- the caller's consumers count.
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
set quote_all_identifiers = off
as $join$
declare
    c      rowferry.capture;
    mine   name[] := rowferry.readers();
    member regclass;
    joined integer := 0;
    taken  oid[] := '{}'; -- another one may join meanwhile: it is for the next turn
begin
    if not rowferry.reaches(session_user, number, true) then
        raise exception '"%" may not select from all of the table of capture %', session_user, number
              using errcode = '42501';
    end if;
    select * into c from rowferry.capture where id = number for no key update;
    for member in
        select split_part(m.line, ' ', 1)::oid
          from unnest(string_to_array(rowferry.members(number), e'\n')) as m(line)
         where split_part(m.line, ' ', 2) = '-'
           and not exists (select from rowferry.consumer k
                            where k.capture = number and k.reader = any(mine)
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
                        where k.capture = number and k.reader = any(mine)
                          and e'\n' || k.triggers not like
                              '%' || e'\n' || split_part(m.line, ' ', 1) || ' %')
    loop
        taken := taken || member::oid;
        joined := joined + 1;
        continue when pg_relation_size(member) = 0;
        if exists (select from pg_class m join pg_roles o on o.oid = m.relowner
                    where m.oid = member and (o.rolsuper or o.rolname = current_user)) then
            execute format('insert into rowferry.change (capture, op, key) select %s, %s '
                           'from (select %s as key, false as gone from only %s r) k',
                           number, rowferry.entry('false'), c.expression, member);
        else -- planning a statement runs code of the table's owner (in expressions of its indexes)
            delete from rowferry.consumer k
             where k.capture = number and k.reader = any(mine)
               and e'\n' || k.triggers not like '%' || e'\n' || member::oid || ' %';
        end if;
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
         where k.capture = number and k.reader = any(mine);
    end if;
    return joined;
end
$join$;
revoke all on function rowferry.join_members(integer) from public;

-- Removes the caller's consumer `given` with its rows in the captures of tables that its query
-- depends on. If `kept` is given, removes only those of these rows that are in other captures. A
-- reader is not granted DELETE, because that right would let it lock the table against all others.
-- Every role may call this function.
create or replace function rowferry.leave(given text, kept integer[])
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $leave$
    delete from rowferry.consumer k
     where k.reader = any(rowferry.readers())
       and ((kept is null and k.name = given)
            or (starts_with(k.name, given || ' on ') and coalesce(k.capture <> all(kept), true)))
$leave$;

-- Replaces rights that were granted to readers of earlier versions.
do $granted$
declare
    grantee name;
begin
    for grantee in
        select r.rolname from pg_class c cross join aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
         where c.oid = 'rowferry.consumer'::regclass and a.privilege_type = 'DELETE' and a.grantee <> c.relowner
    loop
        execute format('revoke update, delete on rowferry.consumer from %I', grantee);
        execute format('grant update (position, keep, triggers, definition, filenode, versions, clock, '
                       'letters, letters_sum, timeline, updated_at, expired_at, since, capture) '
                       'on rowferry.consumer to %I', grantee);
    end loop;
end
$granted$;

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

-- Removes at most `most` entries that no consumer of the capture needs, and records the horizon.
-- Only one session works at a time; others return at once. In a copy of the database the horizon is
-- reset. Entries there with future transaction numbers come from the original and are removed.
create or replace function rowferry.prune(number integer, most integer)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $prune$
declare
    here   text := rowferry.origin();
    c      rowferry.capture;
    safe   xid8;
    last   xid8;
    old    tid[];
    pruned bigint;
begin
    if not rowferry.reaches(session_user, number, false) then
        raise exception '"%" may not select from the table of capture %', session_user, number
              using errcode = '42501';
    end if;
    select * into c from rowferry.capture where id = number for no key update skip locked;
    if not found then
        return 0;
    end if;
    if c.floor is null or c.origin <> here then
        c.floor := '0';
    end if;
    select keep into safe from rowferry.consumer
     where capture = number and expired_at is null order by keep limit 1;
    safe := least(safe, pg_snapshot_xmin(pg_current_snapshot())); -- no consumer is ahead of the server
    old := array(select ctid from rowferry.change
                  where capture = number and xid >= c.floor and xid < safe
                  order by xid, seq limit most);
    select xid into last from rowferry.change where ctid = old[most]; -- there may be more of its entries
    last := coalesce(last, greatest(c.floor, safe));
    update rowferry.capture
       set horizon = case when origin <> here then safe else greatest(horizon, safe) end, origin = here, floor = last
     where id = number and (horizon < safe or origin <> here or floor is distinct from last);
    delete from rowferry.change
     where ctid = any(old
                      || array(select ctid from rowferry.change
                                where capture = number and xid >= pg_snapshot_xmax(pg_current_snapshot())
                                  and xid is distinct from pg_current_xact_id_if_assigned()
                                order by xid, seq limit most));
    get diagnostics pruned = row_count;
    return pruned;
end
$prune$;
revoke all on function rowferry.prune(integer, integer) from public;

-- Removes a consumer that was given up, with its rows in the captures of tables that its query
-- depends on. If it was a capture's last consumer, the entries are removed too. Returns the number
-- of its rows.
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

insert into rowferry.migration (version) values (7) on conflict do nothing;
