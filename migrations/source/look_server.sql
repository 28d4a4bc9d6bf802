-- returns one: text, int, bool, bool?, text
select current_database(), current_setting('server_version_num'), pg_is_in_recovery(),
       (select rolsuper from pg_roles where rolname = current_user), current_user
