-- Version 3: the guard may also stop the pipeline because of rejections; then deletes is 0.
alter table halt add column rejected integer not null default 0;   -- refused for one reason
alter table halt add column operations integer not null default 0; -- total operations
alter table halt add column reason text not null default '';
