-- Form 3: the guard may have stopped the pipeline for rejections too; deletes are 0 then.
alter table halt add column rejected integer not null default 0;   -- for one reason,
alter table halt add column operations integer not null default 0; -- of so many
alter table halt add column reason text not null default '';
