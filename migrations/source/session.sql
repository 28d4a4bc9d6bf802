-- Sent first in every session, because roles and databases may have other settings.
set client_encoding = 'UTF8';
set timezone = 'UTC';
set datestyle = 'ISO, YMD';
set intervalstyle = 'iso_8601';
set extra_float_digits = 1;
set bytea_output = 'hex';
set lc_monetary = 'C';
set standard_conforming_strings = on;
set array_nulls = on;
set quote_all_identifiers = off;
set row_security = off;
set search_path = pg_catalog;
set default_transaction_read_only = off;
set default_transaction_isolation = 'read committed';
set statement_timeout = 0;
set idle_in_transaction_session_timeout = 0;
-- Newer versions have more timeouts that would end a long page or an idle session.
select set_config(name, '0', false) from pg_settings
 where name in ('transaction_timeout', 'idle_session_timeout');
-- The server must also notice that the client is gone, because the session holds the pipeline's
-- lock.
set tcp_keepalives_idle = 30;
set tcp_keepalives_interval = 10;
set tcp_keepalives_count = 3;
set tcp_user_timeout = 60000;
set jit = off;
-- The change log and key ranges are paged in index order. Without statistics the planner would
-- instead collect and sort all remaining rows for each page.
set enable_bitmapscan = off;
set enable_sort = off;
