-- The system's identifier and the timeline. The WAL functions have the timeline too, but some
-- services refuse them. After a promotion pg_control_checkpoint() has the new timeline from the next
-- checkpoint on, and pg_control_recovery() until then; the other has a lower one or 0.
-- returns one: text?, int?
select (select system_identifier::text from pg_control_system()),
       greatest((select min_recovery_end_timeline from pg_control_recovery()),
                (select timeline_id from pg_control_checkpoint()))
