/* SPDX-License-Identifier: Apache-2.0 */
/* Installation of the change log: happens once, is removed without a trace, and blocks nothing. */
#include "walk.h"

#define NOTES "create table note (id bigint primary key, body text)"

static const char *const body[] = {"body"};

static struct walk notes(void)
{
    return (struct walk){.table = "public.note", .columns = body, .column_count = 1};
}

/* Returns everything that an installation could have changed, as one text. */
static char *catalogue_state(struct walk *w)
{
    return sql_text(w->db, "select string_agg(x, ',' order by x) from ("
                           "select format('%%s %%s %%s', tgname, oid, xmin) from pg_trigger union "
                           "all select format('%%s %%s', oid, xmin) from pg_proc where "
                           "pronamespace = 'rowferry'::regnamespace union all "
                           "select format('%%s %%s', id, xmin) from rowferry.capture union all "
                           "select format('%%s %%s', version, xmin) from rowferry.migration) _(x)");
}

static enum install_state look(struct walk *w, struct buf *why)
{
    struct err err = {0};
    struct pg *pg = walk_connect(w->uri);
    struct table *table = walk_table(w, pg);
    enum install_state state = INSTALL_ABSENT;
    must(installed_read(pg, table, &state, why, &err), &err);
    catalog_table_free(table);
    pg_close(pg);
    return state;
}

START_TEST(installing_twice_changes_nothing)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    char *before = catalogue_state(&w);
    walk_install(&w);
    char *after = catalogue_state(&w);
    ck_assert_str_eq(before, after);
    ck_assert_int_eq(look(&w, NULL), INSTALL_CURRENT);
    free(before);
    free(after);
    walk_free(&w);
}
END_TEST

START_TEST(a_change_log_of_before_consumers_were_let_go_is_brought_up_to_date)
{
    struct walk w = notes();
    struct buf why;
    walk_new(&w, NOTES);
    buf_init(&why, 4096);
    sql_exec(w.db, "alter table rowferry.consumer drop column expired_at;"
                   "drop function rowferry.drop_consumer(text);"
                   "update rowferry.migration set version = 3");
    ck_assert_int_eq(look(&w, &why), INSTALL_OLDER);
    ck_assert_ptr_nonnull(strstr(buf_text(&why), "earlier version"));
    walk_install(&w);
    ck_assert_int_eq(look(&w, NULL), INSTALL_CURRENT);
    ck_assert_int_eq(sql_int(w.db, "select rowferry.drop_consumer('nobody')"), 0);
    ck_assert_int_eq(sql_int(w.db, "select count(expired_at) from rowferry.consumer"), 0);
    buf_release(&why);
    walk_free(&w);
}
END_TEST

START_TEST(removing_leaves_nothing)
{
    struct walk w = notes();
    struct err err = {0};
    walk_new(&w, NOTES);
    walk_start(&w);
    sql_exec(w.db, "insert into note values (1, 'x')");
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_remove(pg, table, &err), &err);
    ck_assert_int_eq(
        sql_int(w.db, "select count(*) from pg_trigger where tgname like 'rowferry%%'"), 0);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from pg_namespace where nspname = 'rowferry'"),
                     0);
    must(install_remove(pg, table, &err), &err);
    ck_assert_int_eq(look(&w, NULL), INSTALL_ABSENT);
    ck_assert_int_eq(w.capture->ops->resume(w.capture, w.position, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.hint, "source install"));
    catalog_table_free(table);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

START_TEST(removing_one_table_keeps_the_log_of_another)
{
    struct walk w = notes();
    struct err err = {0};
    walk_new(&w, NOTES "; create table other (id int primary key)");
    struct walk other = w;
    other.table = "other";
    walk_install(&other);
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_remove(pg, table, &err), &err);
    ck_assert_int_eq(look(&w, NULL), INSTALL_ABSENT);
    ck_assert_int_eq(look(&other, NULL), INSTALL_CURRENT);
    catalog_table_free(table);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

START_TEST(a_disabled_or_dropped_trigger_is_seen_and_mended)
{
    struct walk w = notes();
    struct buf why;
    buf_init(&why, 4096);
    walk_new(&w, NOTES);
    sql_exec(w.db, "alter table note disable trigger rowferry_1_update");
    ck_assert_int_eq(look(&w, &why), INSTALL_BROKEN);
    ck_assert_ptr_nonnull(strstr(buf_text(&why), "\"rowferry_1_update\" is disabled"));
    walk_install(&w);
    ck_assert_int_eq(look(&w, NULL), INSTALL_CURRENT);
    sql_exec(w.db, "drop trigger rowferry_1_truncate on note");
    buf_reset(&why);
    ck_assert_int_eq(look(&w, &why), INSTALL_BROKEN);
    ck_assert_ptr_nonnull(strstr(buf_text(&why), "\"rowferry_1_truncate\" is missing"));
    buf_release(&why);
    walk_free(&w);
}
END_TEST

/* Runs statements as a role of this test. Roles outlive databases, so it is dropped here. */
static void as_role(struct walk *w, const char *role, const char *sql)
{
    sql_exec(w->db, "set session authorization \"%s\"", role);
    sql_exec(w->db, "%s", sql);
    sql_exec(w->db, "reset session authorization");
}

static char *new_role(struct walk *w, const char *options)
{
    char *role = sql_text(w->db, "select 'rowferry_' || current_database()");
    sql_exec(w->db, "drop role if exists \"%s\"; create role \"%s\" login %s", role, role, options);
    return role;
}

static void drop_role(struct walk *w, char *role)
{
    sql_exec(w->db, "drop owned by \"%s\"; drop role \"%s\"", role, role);
    free(role);
}

START_TEST(a_writer_without_rights_on_the_log_still_writes)
{
    struct walk w = notes();
    walk_new(&w, NOTES);
    char *role = new_role(&w, "");
    sql_exec(w.db, "grant select, insert, update, delete, truncate on note to \"%s\"", role);
    as_role(&w, role,
            "insert into note values (1, 'x'); update note set id = 2; delete from note; "
            "truncate note");
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.change"), 5);
    ck_assert_int_eq(
        sql_int(w.db, "select has_schema_privilege('%s', 'rowferry', 'usage')::int", role), 0);
    drop_role(&w, role);
    walk_free(&w);
}
END_TEST

START_TEST(the_reader_reads_with_what_was_printed_and_no_more)
{
    struct walk w = notes();
    struct err err = {0};
    struct buf script;
    buf_init(&script, 1 << 20);
    walk_new(&w, NOTES "; create table other (id int)");
    char *role = new_role(&w, "password 'pw'");
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_remove(pg, table, &err), &err);
    must(install_print(pg, table, role, &script, &err), &err);
    sql_exec(w.db, "%s", buf_text(&script));
    sql_exec(w.db, "%s", buf_text(&script));
    sql_exec(w.db, "insert into note select i, 'x' from generate_series(1, 10) i");
    catalog_table_free(table);
    pg_close(pg);

    char *plain = w.uri;
    w.uri = uri_as(plain, role);
    ck_assert_int_eq(setenv("PGPASSWORD", "pw", 1), 0);
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "delete from note where id < 4");
    ck_assert_uint_eq(walk_drain(&w), 3);
    walk_settle(&w);
    ck_assert_int_eq(walk_differences(&w, "select id::text as key, body as content from note"), 0);
    ck_assert_int_eq(
        sql_int(w.db,
                "select has_table_privilege('%1$s', 'note', 'insert, update, delete, "
                "truncate')::int + has_table_privilege('%1$s', 'other', 'select')::int "
                "+ has_table_privilege('%1$s', 'rowferry.change', 'insert, delete')::int",
                role),
        0);
    walk_close(&w);
    unsetenv("PGPASSWORD");
    free(w.uri);
    w.uri = plain;
    drop_role(&w, role);
    buf_release(&script);
    walk_free(&w);
}
END_TEST

START_TEST(a_role_that_may_not_install_is_told_what_to_do)
{
    struct walk w = notes();
    struct err err = {0};
    walk_new(&w, NOTES);
    char *role = new_role(&w, "password 'pw'");
    struct pg *owner = walk_connect(w.uri);
    struct table *table = walk_table(&w, owner);
    must(install_remove(owner, table, &err), &err);
    char *uri = uri_as(w.uri, role);
    ck_assert_int_eq(setenv("PGPASSWORD", "pw", 1), 0);
    struct pg *pg = walk_connect(uri);
    ck_assert_int_eq(install_apply(pg, table, NULL, &err), ERR_REJECTED);
    ck_assert_str_eq(err.sqlstate, "42501");
    ck_assert_ptr_nonnull(strstr(err.hint, "source print"));
    pg_close(pg);
    pg_close(owner);
    catalog_table_free(table);
    free(uri);
    drop_role(&w, role);
    walk_free(&w);
}
END_TEST

START_TEST(a_table_in_use_is_waited_for)
{
    struct walk w = notes();
    struct err err = {0};
    walk_new(&w, NOTES);
    sql_exec(w.db,
             "create table busy (id int primary key); set idle_in_transaction_session_timeout "
             "= '3s'; begin; insert into busy values (1)");
    w.table = "busy";
    PGconn *blocker = w.db;
    w.db = NULL;
    ck_assert_int_eq(PQstatus(blocker), CONNECTION_OK);
    PQclear(PQexec(blocker, "commit; begin; insert into busy values (2)"));
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_apply(pg, table, NULL, &err), &err);
    catalog_table_free(table);
    pg_close(pg);
    PQfinish(blocker);
    w.db = sql_open(w.uri);
    ck_assert_int_eq(look(&w, NULL), INSTALL_CURRENT);
    walk_free(&w);
}
END_TEST

START_TEST(what_the_log_cannot_cover_is_refused_with_the_reason)
{
    static const struct {
        const char *table;
        const char *reason;
    } cases[] = {{"part", "is a partition"},
                 {"child", "inherits"},
                 {"seen", "is a view"},
                 {"counter", "is a sequence, and not a table"},
                 {"fast", "unlogged"},
                 {"elsewhere", "foreign table"},
                 {"partly", "has the member public.far, which is a foreign table"},
                 {"careless", "has the member public.volatile, which is temporary or unlogged"},
                 {"parent", "has the member public.two, which inherits from another table too"}};
    static const char *const key[] = {"id"};
    struct walk w = notes();
    walk_new(&w, NOTES "; create table whole (id int primary key) partition by range (id);"
                       "create table part partition of whole default;"
                       "create table parent (id int primary key);"
                       "create table child () inherits (parent);"
                       "create view seen as select * from note; create sequence counter;"
                       "create unlogged table fast (id int primary key);"
                       "create foreign data wrapper nowhere; create server s foreign data wrapper "
                       "nowhere; create foreign table elsewhere (id int) server s;"
                       "create table partly (id int) partition by range (id);"
                       "create foreign table far partition of partly default server s;"
                       "create table careless (id int) partition by range (id);"
                       "create unlogged table volatile partition of careless default;"
                       "create table other (id int primary key);"
                       "create table two () inherits (parent, other)");
    w.key = key;
    w.key_count = 1;
    struct pg *pg = walk_connect(w.uri);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        w.table = cases[i].table;
        struct table *table = NULL;
        int rc = catalog_table(pg, &table, w.table, w.key, w.key_count, &err);
        rc = rc == 0 ? install_apply(pg, table, NULL, &err) : rc;
        ck_assert_int_eq(rc, ERR_REJECTED);
        ck_assert_msg(strstr(err.message, cases[i].reason) != NULL, "%s", err.message);
        catalog_table_free(table);
    }
    pg_close(pg);
    walk_free(&w);
}
END_TEST

START_TEST(a_consumer_that_does_not_come_back_is_named)
{
    struct walk w = notes();
    struct err err = {0};
    struct buf names;
    walk_new(&w, NOTES);
    walk_start(&w);
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    buf_init(&names, 4096);
    sql_exec(w.db, "update rowferry.consumer set updated_at = '2026-01-02 12:00Z'");
    must(installed_stale(pg, table, &names, &err), &err);
    ck_assert_str_eq(buf_text(&names), ""); /* it holds back nothing */
    sql_exec(w.db, "insert into note values (1, 'x')");
    must(installed_stale(pg, table, &names, &err), &err);
    ck_assert_ptr_nonnull(strstr(buf_text(&names), "\" since 2026-01-02"));
    buf_release(&names);
    catalog_table_free(table);
    pg_close(pg);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/install", installing_twice_changes_nothing,
           a_change_log_of_before_consumers_were_let_go_is_brought_up_to_date,
           removing_leaves_nothing, removing_one_table_keeps_the_log_of_another,
           a_disabled_or_dropped_trigger_is_seen_and_mended,
           a_writer_without_rights_on_the_log_still_writes,
           the_reader_reads_with_what_was_printed_and_no_more,
           a_role_that_may_not_install_is_told_what_to_do, a_table_in_use_is_waited_for,
           what_the_log_cannot_cover_is_refused_with_the_reason,
           a_consumer_that_does_not_come_back_is_named)
