-- Whether a prepared transaction of this database waits; when it began is not kept anywhere.
-- returns one: bool
select exists (select from pg_prepared_xacts where database = current_database())
