-- Version 11: owner of the transaction that holds the source's xmin horizon.
alter table working add column hold_who text not null default '';
