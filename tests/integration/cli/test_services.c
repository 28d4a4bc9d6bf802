/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed services, imitated by roles like their own: from init to verify by what the program
 * prints. No login is a superuser, and row security is on. The administrator runs the statements.
 */
#include "cluster.h"
#include "rowferry/base/text.h"
#include "shops.h"
#include "suite.h"

#define PW " password '" SHOP_PASSWORD "'"

struct place {
    const char *service; /* as check names it; empty: none */
    const char *make;    /* roles and functions */
    const char *admin;   /* the login of the customer; it owns the database */
    bool application;    /* another role owns the table; the administrator has created it */
    bool supautils;      /* the administrator may grant bypassrls before version 16, too */
};

static const struct place places[] = {
    {"Amazon RDS",
     "create role rds_superuser; grant pg_monitor, pg_signal_backend to rds_superuser with admin "
     "option; create role master createrole createdb in role rds_superuser login" PW,
     "master", false, false},
    {"Amazon Aurora",
     "set allow_system_table_mods = on; create function pg_catalog.aurora_version() returns int "
     "language sql as 'select 1'; create role rds_superuser; create role master createrole "
     "createdb in "
     "role rds_superuser login" PW,
     "master", true, false},
    {"Azure Database for PostgreSQL",
     "create role azure_pg_admin; grant pg_monitor to azure_pg_admin with admin option; create "
     "role master createrole createdb replication in role azure_pg_admin login" PW,
     "master", true, false},
    {"Supabase",
     "create role supabase_admin superuser; create role anon; create role authenticated; create "
     "role service_role bypassrls; create role postgres createrole createdb replication bypassrls "
     "login" PW "; grant anon, authenticated, service_role, pg_read_all_stats to postgres with "
     "admin option",
     "postgres", false, true},
    {"Cloud SQL",
     "create role cloudsqlsuperuser createrole createdb; create role master createrole createdb in "
     "role cloudsqlsuperuser login" PW,
     "master", false, false},
    {"AlloyDB",
     "create role alloydbsuperuser createrole createdb; create role master createrole createdb in "
     "role alloydbsuperuser login" PW,
     "master", true, false},
    {"Neon",
     "create role neon_superuser createrole createdb bypassrls replication; create role master "
     "createrole createdb bypassrls replication in role neon_superuser login" PW,
     "master", false, false},
    {"Timescale Cloud", "create role tsdbadmin createrole login" PW, "tsdbadmin", true, false},
    /* a server of somebody's own, where a superuser exists but is not at hand */
    {"", "create role master createrole createdb login" PW, "master", true, false},
};

static void place_open(struct shop *s, const struct place *p)
{
    *s = (struct shop){.dir = scratch_new(), .root = database_new()};
    const char *database = strrchr(s->root, '/') + 1;
    s->conn = sql_open(s->root);
    sql_exec(s->conn, "%s", p->make);
    sql_exec(s->conn, "alter database \"%s\" owner to \"%s\"", database, p->admin);
    s->uri = uri_as(s->root, p->admin);
    s->config = scratch_path(s->dir, "rowferry.json");
    ck_assert_int_eq(setenv("PGPASSWORD", SHOP_PASSWORD, 1), 0);
    PGconn *admin = sql_open(s->uri);
    s->role = text_copy(p->application ? "application" : p->admin);
    if (p->application) {
        sql_exec(admin, "create role application login" PW "; grant create on schema public to "
                        "application");
    }
    PQfinish(admin);
    sql_exec(s->conn,
             "set session authorization \"%s\"; create table articles (id bigint primary "
             "key, title text); insert into articles select i, 'title ' || i from "
             "generate_series(1, 50) i; alter table articles enable row level security; "
             "create policy even on articles using (id %% 2 = 0)",
             s->role);
    devsearch_start(&s->service, NULL);
}

static void place_close(struct shop *s)
{
    devsearch_stop(&s->service);
    PQfinish(s->conn);
    database_drop(s->root);
    PGconn *conn = sql_open(own_cluster.uri);
    char *roles = sql_text(conn, "select string_agg(quote_ident(rolname), ', ') from pg_roles "
                                 "where rolname !~ '^pg_' and rolname <> current_user");
    sql_exec(conn, "drop role %s", roles);
    PQfinish(conn);
    scratch_remove(s->dir);
    free(roles);
    free(s->uri);
    free(s->role);
    free(s->config);
    unsetenv("PGPASSWORD");
}

static void run_as(const char *uri, const char *sql)
{
    PGconn *conn = sql_open(uri);
    sql_exec(conn, "%s", sql);
    PQfinish(conn);
}

/* Runs what `source print` shows for a reader that does not exist yet. The statement for row
 * security follows the transaction. */
static void place_prepare(const struct shop *s, const struct place *p)
{
    static const char end[] = "\ncommit;\n";
    struct program_result r;
    rowferry_run(&r, s->config, "source", "print", "--reader", "rowferry", NULL);
    ck_assert_msg(r.exit_code == 0, "%s", r.err);
    char *last = strstr(r.out, end);
    ck_assert_ptr_nonnull(last);
    char *script = text_copy_span(span_make(r.out, (size_t)(last - r.out) + strlen(end)));
    run_as(s->uri, script);
    bool by_itself = !p->supautils || PQserverVersion(s->conn) >= 160000;
    run_as(by_itself ? s->uri : s->root, last + strlen(end));
    run_as(s->uri, "alter role rowferry" PW); /* the script does not choose one */
    free(script);
    program_result_release(&r);
}

/* Names the reader in source.uri, as a comment of the file recommends. */
static void place_name_reader(struct shop *s)
{
    struct buf text;
    char *old = shop_text(s);
    char *uri = uri_as(s->root, "rowferry");
    char *at = strstr(old, s->uri);
    ck_assert_ptr_nonnull(at);
    buf_init(&text, 1 << 20);
    buf_push(&text, old, (size_t)(at - old));
    buf_push_text(&text, uri);
    buf_push_text(&text, at + strlen(s->uri));
    free(scratch_write(s->dir, "rowferry.json", buf_text(&text)));
    buf_release(&text);
    free(uri);
    free(old);
}

static void place_replicate(struct shop *s, const char *service, bool alone)
{
    struct program_result r;
    rowferry_run(&r, s->config, "check", "--all", NULL);
    ck_assert_msg(r.exit_code == 0, "%s: %s%s", service, r.out, r.err);
    ck_assert_msg(strstr(r.out, service) != NULL, "not on %s: %s", service, r.out);
    ck_assert_msg((strstr(r.out, "more rights than it needs") == NULL) == alone, "%s", r.out);
    program_result_release(&r);
    shop_runs(s, "sync", NULL);
    sql_exec(s->conn, "update articles set title = 'new' where id < 4; delete from articles where "
                      "id = 9; insert into articles values (100, 'one more')");
    shop_follows(s, 5);
}

START_TEST(what_is_printed_leads_to_an_equal_index)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct shop s;
        place_open(&s, &places[i]);
        shop_init(&s, "articles", NULL);
        ck_assert(places[i].application || shop_has(&s, "source print --reader rowferry"));
        place_prepare(&s, &places[i]);
        place_name_reader(&s);
        place_replicate(&s, places[i].service, true);
        place_close(&s);
    }
}
END_TEST

/* Heroku's cheapest plans have one login, which can create no other. */
START_TEST(the_only_login_may_read_as_the_owner)
{
    static const struct place heroku = {
        "Heroku",
        "create schema _heroku; create function _heroku.create_ext() returns int language sql "
        "as \'select 1\'; create role u1 login" PW "; grant pg_monitor to u1",
        "u1", false, false};
    struct shop s;
    place_open(&s, &heroku);
    shop_init(&s, "articles", NULL);
    shop_runs(&s, "source", "install");
    place_replicate(&s, heroku.service, false);
    place_close(&s);
}
END_TEST

/* On a service an administrator cannot get such a right back. */
START_TEST(an_administrator_is_not_told_to_give_up_its_rights)
{
    struct program_result r;
    struct shop s;
    place_open(&s, &places[0]);
    shop_init(&s, "articles", NULL);
    shop_runs(&s, "source", "install");
    rowferry_run(&r, s.config, "check", NULL);
    ck_assert_ptr_nonnull(strstr(r.out, "own public.articles, create roles, create databases"));
    ck_assert_ptr_nonnull(strstr(r.out, "source print articles --reader rowferry"));
    ck_assert_ptr_null(strstr(r.out, "alter role"));
    program_result_release(&r);
    rowferry_run(&r, s.config, "source", "install", "--reader", "rowferry", NULL);
    ck_assert_int_eq(r.exit_code, 1);
    ck_assert_ptr_nonnull(strstr(r.err, "create the reader, or let a DBA run"));
    program_result_release(&r);
    place_close(&s);
}
END_TEST

/* The reader is made first, and each command names the next step. */
START_TEST(a_reader_without_rights_is_shown_each_step)
{
    struct program_result r;
    struct shop s;
    place_open(&s, &places[0]);
    run_as(s.uri, "create role rowferry login" PW);
    char *admin = s.uri;
    s.uri = uri_as(s.root, "rowferry");
    rowferry_run(&r, NULL, "init", "--source", s.uri, "--table", "articles", "--service",
                 s.service.url, "-o", s.config, NULL);
    ck_assert_msg(r.exit_code == 0, "%s", r.err);
    ck_assert_ptr_nonnull(strstr(r.err, "_public_articles_owner"));
    ck_assert_ptr_nonnull(strstr(r.err, "source print, for a DBA to run"));
    program_result_release(&r);
    free(s.uri);
    s.uri = admin;
    place_prepare(&s, &places[0]);
    place_replicate(&s, places[0].service, true);
    place_close(&s);
}
END_TEST

START_TEST(row_security_of_a_joined_table_is_passed_too)
{
    static const char *const with[] = {"authors", NULL};
    struct program_result r;
    struct shop s;
    place_open(&s, &places[0]);
    sql_exec(s.conn,
             "create table authors (id bigint primary key, name text); insert into authors "
             "values (1, 'Ann'); alter table authors enable row level security; alter table "
             "articles add author bigint default 1 references authors");
    shop_init(&s, "articles", with);
    place_prepare(&s, &places[0]);
    place_name_reader(&s);
    place_replicate(&s, places[0].service, true);
    sql_exec(s.conn, "alter table authors force row level security");
    rowferry_run(&r, s.config, "check", NULL);
    ck_assert_int_eq(r.exit_code, 4);
    ck_assert_msg(strstr(r.out, "row security hides rows of \"public\".\"authors\"") != NULL, "%s",
                  r.out);
    program_result_release(&r);
    place_close(&s);
}
END_TEST

CLUSTER_MAIN("cli/services", what_is_printed_leads_to_an_equal_index,
             the_only_login_may_read_as_the_owner,
             an_administrator_is_not_told_to_give_up_its_rights,
             a_reader_without_rights_is_shown_each_step,
             row_security_of_a_joined_table_is_passed_too)
