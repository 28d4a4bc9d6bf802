-- Drops by name and without cascade: objects of other roles in the schema stay, with an error. The
-- role "rowferry_capture" stays too, because other databases of the server may use it.
drop function rowferry.drop_consumer(text);
drop function rowferry.prune(integer, integer);
drop function rowferry.drop_capture(regclass, text[]);
drop function if exists rowferry.add_capture(regclass, text[], text); -- of version 2
drop function if exists rowferry.add_capture(regclass, text[], text, boolean);
drop function rowferry.join_members(integer);
drop function if exists rowferry.leave(text, integer[]), rowferry.readers();
drop function rowferry.cover(integer, regclass);
drop function rowferry.members(integer);
drop function rowferry.tree(regclass);
drop function if exists rowferry.entry(), rowferry.entry(text), rowferry.disown(integer, regclass), rowferry.reaches(name, integer, boolean), rowferry.origin();
drop table rowferry.consumer, rowferry.change, rowferry.capture, rowferry.migration;
drop schema rowferry;
