-- $1 consumer: marks it as present, with its rows in the captures of tables that its query depends
-- on. An expired row keeps entries again and is returned as such; the horizon shows if entries were
-- lost. The clock advances with time, so a process that takes over is ahead of it even if the
-- hosts' clocks differ.
-- returns any: bool
with old as (
    select name, expired_at from rowferry.consumer
     where reader = current_user and (name = $1 or starts_with(name, $1 || ' on '))
       and (expired_at is not null or updated_at < now() - interval '10 minutes')
       for update)
update rowferry.consumer c
   set updated_at = now(), expired_at = null,
       clock = c.clock + greatest(0, extract(epoch from now() - c.updated_at) * 1000000)::bigint
  from old where c.reader = current_user and c.name = old.name
returning old.expired_at is not null
