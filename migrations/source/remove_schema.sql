-- By name and without cascade: what somebody else has put into the schema stays, with an error.
drop function rowferry.drop_consumer(text);
drop function rowferry.prune(integer, integer);
drop function rowferry.drop_capture(regclass, text[]);
drop function if exists rowferry.add_capture(regclass, text[], text); -- of version 2
drop function if exists rowferry.add_capture(regclass, text[], text, boolean);
drop function rowferry.join_members(integer);
drop function rowferry.cover(integer, regclass);
drop function rowferry.members(integer);
drop function rowferry.tree(regclass);
drop table rowferry.consumer, rowferry.change, rowferry.capture, rowferry.migration;
drop schema rowferry;
