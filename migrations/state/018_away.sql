-- Version 18: why a server does not work, before that is a stall.
alter table working add column away text not null default '';
