-- Version 10: the lag of a holder, the transaction that holds the xmin horizon, a stall's cause.
alter table working add column lag_rows integer not null default -1; -- -1: unknown
alter table working add column hold_pid integer not null default 0;
alter table working add column hold_us integer not null default 0;
alter table working add column stall text not null default '';       -- empty: progressing
alter table working add column stall_why text not null default '';
alter table working add column stall_us integer not null default 0;
