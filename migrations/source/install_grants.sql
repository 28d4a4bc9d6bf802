grant usage on schema {schema} to {reader};
grant select on {table} to {reader};
grant usage on schema rowferry to {reader};
grant select on rowferry.migration, rowferry.capture, rowferry.change to {reader};
grant select, insert on rowferry.consumer to {reader};
grant update (position, keep, triggers, definition, filenode, versions, clock, letters, letters_sum, timeline, updated_at, expired_at, since, capture) on rowferry.consumer to {reader};
grant execute on function rowferry.prune(integer, integer), rowferry.join_members(integer) to {reader};
