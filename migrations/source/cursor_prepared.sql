-- Whether a prepared transaction of this database waits; when it began is not kept anywhere.
select exists (select from pg_prepared_xacts where database = current_database())
