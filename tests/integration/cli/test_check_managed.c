/* SPDX-License-Identifier: Apache-2.0 */
/* What `check` says on a managed service, which it recognises by what only that service has. */
#include "cluster.h"
#include "lines.h"
#include "sql.h"
#include "suite.h"

START_TEST(a_service_is_recognised_by_its_roles_and_functions)
{
    static const struct {
        const char *make, *name, *drop;
    } services[] = {
        {"create role rds_superuser", "Amazon RDS", NULL},
        {"create function public.aurora_version() returns int language sql as 'select 1'",
         "Amazon RDS", "drop function public.aurora_version()"},
        {"create function pg_catalog.aurora_version() returns int language sql as 'select 1'",
         "Amazon Aurora", "drop function pg_catalog.aurora_version(); drop role rds_superuser"},
        {"create role alloydbsuperuser; create role cloudsqlsuperuser", "AlloyDB",
         "drop role alloydbsuperuser"},
        {"select", "Cloud SQL", "drop role cloudsqlsuperuser"},
        {"create role azure_pg_admin", "Azure Database for PostgreSQL", "drop role azure_pg_admin"},
        {"create role supabase_admin", "Supabase", "drop role supabase_admin"},
        {"create role neon_superuser", "Neon", "drop role neon_superuser"},
        {"create role tsdbadmin", "Timescale Cloud", "drop role tsdbadmin"},
        {"create schema _heroku; create function _heroku.create_ext() returns int language sql "
         "return 1",
         "Heroku", "drop schema _heroku cascade"},
    };
    struct world w;
    struct lines l;
    world_start(&w, 1, NULL);
    lines_look(&l, w.config, "--accept-admin", NULL);
    lines_expect_none(&l, "source", "PASS", " on ");
    lines_release(&l);
    sql_exec(w.conn, "set allow_system_table_mods = on");
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        char words[64];
        snprintf(words, sizeof(words), " on %s answers", services[i].name);
        sql_exec(w.conn, "%s", services[i].make);
        lines_look(&l, w.config, "--accept-admin", NULL);
        lines_expect(&l, "source", "PASS", words);
        lines_release(&l);
        if (services[i].drop != NULL) {
            sql_exec(w.conn, "%s", services[i].drop);
        }
    }
    world_stop(&w);
}
END_TEST

START_TEST(row_security_needs_no_superuser)
{
    static const struct planted fault = {
        .line = "table",
        .status = "FAIL",
        .words = "row security hides rows",
        .before =
            "create role \"the owner\" login; create role \"the admin\" login createrole; grant "
            "\"the owner\" to \"the admin\" with admin option; alter table articles owner to "
            "\"the owner\"",
        .as_reader = true,
        .plant = "create role supabase_admin; alter table articles enable row level security",
        .remedy = "grant \"the owner\" to ",
        .mend = MEND_SQL_ONE};
    planted_try(&fault);
}
END_TEST

CLUSTER_MAIN("cli/check_managed", a_service_is_recognised_by_its_roles_and_functions,
             row_security_needs_no_superuser)
