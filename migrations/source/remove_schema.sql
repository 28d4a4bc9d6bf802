-- By name and without cascade: what somebody else has put into the schema stays, with an error.
drop function rowferry.prune(integer, integer);
drop function rowferry.drop_capture(regclass, text[]);
drop function rowferry.add_capture(regclass, text[], text);
drop table rowferry.consumer, rowferry.change, rowferry.capture, rowferry.migration;
drop schema rowferry;
