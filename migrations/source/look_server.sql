-- returns one: text, text, int, int, bool, bool?, text
select (select system_identifier::text from pg_control_system()), current_database(),
       case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
            else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer end,
       current_setting('server_version_num'), pg_is_in_recovery(),
       (select rolsuper from pg_roles where rolname = current_user), current_user
