-- $1 the capture
select rowferry.join_members($1::integer)
