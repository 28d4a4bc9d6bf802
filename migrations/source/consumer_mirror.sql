-- $1 consumer, $2 position, $3 the oldest transaction that it still needs, $4 clock, $5 the dead
-- letters (null: unchanged) and $6 their checksum, $7 the server's timeline (0: unknown). Never goes
-- backwards. Returns true if entries are kept for the consumer.
-- returns one: bool
with told as (
    update rowferry.consumer
       set position = $2, keep = $3::xid8,
           clock = greatest(clock, $4::bigint), letters = coalesce($5, letters),
           letters_sum = coalesce($6::bigint, letters_sum),
           timeline = $7::integer,
           updated_at = now()
     where reader = current_user and name = $1 and keep <= $3::xid8 and expired_at is null)
select exists (select from rowferry.consumer where reader = current_user and name = $1 and expired_at is null)
