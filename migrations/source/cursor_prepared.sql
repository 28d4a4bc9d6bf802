-- Returns true if this database has a prepared transaction; its start is not recorded anywhere.
-- returns one: bool
select exists (select from pg_prepared_xacts where database = current_database())
