-- Sent first in every session: roles and databases may have set any of these otherwise.
set client_encoding = 'UTF8';
set timezone = 'UTC';
set datestyle = 'ISO, YMD';
set intervalstyle = 'iso_8601';
set extra_float_digits = 1;
set bytea_output = 'hex';
set lc_monetary = 'C';
set standard_conforming_strings = on;
set row_security = off;
set search_path = pg_catalog;
set statement_timeout = 0;
set idle_in_transaction_session_timeout = 0;
set jit = off;
-- The change log and key ranges are paged in the order of an index. Without statistics the planner
-- would rather collect and sort all that is left, again for each page.
set enable_bitmapscan = off;
set enable_sort = off;
