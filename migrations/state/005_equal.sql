-- Version 5: the index contains all commits up to this time; 0: not yet. Kept when the holder ends.
alter table working add column equal_us integer not null default 0;
