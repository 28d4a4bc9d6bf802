-- Form 10: how far behind a holder is, whom it waits for, and why nothing goes on.
alter table working add column lag_rows integer not null default -1; -- -1: not known
alter table working add column hold_pid integer not null default 0;
alter table working add column hold_us integer not null default 0;
alter table working add column stall text not null default '';       -- empty: it goes on
alter table working add column stall_why text not null default '';
alter table working add column stall_us integer not null default 0;
