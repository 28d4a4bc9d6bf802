-- When the server started, and its own address. The address is null by a socket or on the loopback,
-- which every machine has.
-- returns one: text, text?
select to_char(pg_postmaster_start_time() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
       case when not inet_server_addr() <<= any(array['127.0.0.0/8', '::1/128']::inet[])
            then host(inet_server_addr()) || ':' || inet_server_port() end
