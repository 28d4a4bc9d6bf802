-- Whether the server is in recovery, the PID of its process, and what this role may read of the
-- control file: all that look_history needs, or what look_system needs. NULL if the server has no
-- such function. The rights are looked up beforehand, so that nothing fails in the server's log.
-- Before that, whether the role is a superuser.
-- returns one: bool, int, bool, bool?, bool?
select pg_is_in_recovery(), pg_backend_pid(), current_setting('is_superuser')::boolean,
       has_function_privilege(to_regprocedure('pg_control_system()'), 'execute')
       and has_function_privilege(to_regprocedure('pg_control_checkpoint()'), 'execute')
       and has_function_privilege(to_regprocedure('pg_control_recovery()'), 'execute'),
       has_function_privilege(to_regprocedure('pg_control_system()'), 'execute')
