-- The system's identifier, if the session may not read the rest of the control file.
-- returns one: text?, int?
select system_identifier::text, 0 from pg_control_system()
