-- Version 13: a column each for why batches do not grow, the lock holder of a standby, and why a
-- rebuild failed. One column held all three.
alter table working rename column frozen to growth_stopped;
alter table working add column holder text not null default '';
alter table working add column failed_why text not null default '';
update working set holder = growth_stopped, growth_stopped = '' where stage = 'standing by';
update working set failed_why = growth_stopped, growth_stopped = '' where stage = 'failed';
