-- Form 5: as of when a pipeline that follows had its index equal, in microseconds; it outlives the holder. 0: not yet.
alter table working add column equal_us integer not null default 0;
