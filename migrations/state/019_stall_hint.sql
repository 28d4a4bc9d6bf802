-- Version 19: what to do about an error that stopped the pipeline.
alter table working add column stall_hint text not null default '';
