
-- Does nothing if the reader exists, and if this role may add triggers to the table.
set local rowferry.reader = {name};
set local rowferry.relation = {relation};
do $roles$
declare
    reader name := current_setting('rowferry.reader');
    owner  oid  := (select relowner from pg_class where oid = current_setting('rowferry.relation')::regclass);
begin
    if not exists (select from pg_roles where rolname = reader) then
        execute format('create role %I login', reader); -- then give it a password: \password ROLE
    end if;
    if not pg_has_role(owner, 'usage') then
        execute format('grant %I to current_user', pg_get_userbyid(owner));
    end if;
end
$roles$;

