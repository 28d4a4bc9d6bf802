-- The managed service that this server belongs to, by what only that service has; no row: none is
-- recognised. Amazon Aurora has the role of Amazon RDS, too.
-- returns maybe: text
select s.name
  from (values (1, 'Amazon Aurora', to_regproc('aurora_version') is not null),
               (2, 'Amazon RDS', to_regrole('rds_superuser') is not null),
               (3, 'AlloyDB', to_regrole('alloydbsuperuser') is not null),
               (4, 'Cloud SQL', to_regrole('cloudsqlsuperuser') is not null),
               (5, 'Azure Database for PostgreSQL', to_regrole('azure_pg_admin') is not null),
               (6, 'Supabase', to_regrole('supabase_admin') is not null),
               (7, 'Neon', to_regrole('neon_superuser') is not null),
               (8, 'Timescale Cloud', to_regrole('tsdbadmin') is not null),
               (9, 'Heroku', exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                                      where n.nspname = '_heroku' and p.proname = 'create_ext'))
       ) s (place, name, found)
 where s.found
 order by s.place
 limit 1
