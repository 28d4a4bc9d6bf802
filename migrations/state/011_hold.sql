-- Form 11: whose transaction it is that holds the source's watermark.
alter table working add column hold_who text not null default '';
