/* SPDX-License-Identifier: Apache-2.0 */
/* init: refusals, messages about missing things, and questions. */
#include <pty.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "http.h"
#include "shops.h"
#include "suite.h"

#define NOTES                                                                                      \
    "create table notes (id int primary key, body text, changed_at timestamptz not null default "  \
    "now()); insert into notes select i, 'x y' from generate_series(1, 50) i; "

/* Runs init with these words and the default configuration path. Expects the exit code and the
 * text. */
static void expect(int exit_code, const char *text, const char *const *words)
{
    const char *argv[24] = {getenv("ROWFERRY_PROGRAM"), "init"};
    struct program p;
    struct program_result r;
    for (size_t i = 2; *words != NULL; i++) {
        argv[i] = *words++;
    }
    program_start(&p, argv, NULL);
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == exit_code, "%d: %s%s", r.exit_code, r.out, r.err);
    ck_assert_msg(strstr(r.err, text) != NULL || strstr(r.out, text) != NULL, "no \"%s\" in:\n%s%s",
                  text, r.out, r.err);
    ck_assert(strstr(r.out, SHOP_PASSWORD) == NULL && strstr(r.err, SHOP_PASSWORD) == NULL);
    program_result_release(&r);
}

#define EXPECT(code, text, ...) expect((code), (text), (const char *const[]){__VA_ARGS__, NULL})

START_TEST(what_argv_alone_shows_to_be_wrong)
{
    const char *uri = "postgresql://u@127.0.0.1:1/db";
    EXPECT(2, "command \"init\" needs --source URI", "--table", "t");
    EXPECT(2, "command \"init\" needs --table T", "--source", uri);
    EXPECT(2, "command \"init\" takes no \"notes\"", "notes", "--source", uri);
    EXPECT(2, "a password in the URI is refused", "--table", "t", "--source",
           "postgresql://u:" SHOP_PASSWORD "@127.0.0.1/db");
    EXPECT(2, "option \"--source\"", "--table", "t", "--source", "mysql://u@127.0.0.1/db");
    EXPECT(2, "option \"--service\": it must begin with https:// or http://", "--table", "t",
           "--source", uri, "--service", "localhost:9200");
    EXPECT(2, "option \"--service\": a user or password in the URL is refused", "--table", "t",
           "--source", uri, "--service", "http://u:" SHOP_PASSWORD "@127.0.0.1:9200");
    EXPECT(2, "\"init\" reads no configuration", "--table", "t", "--source", uri, "-c", "x.json");
    EXPECT(2, "cannot create \"/no/such/folder/x.json\": No such file or directory", "--table", "t",
           "--source", uri, "-o", "/no/such/folder/x.json");
    EXPECT(2, "cannot create \"/dev/null/x.json\": Not a directory", "--table", "t", "--source",
           uri, "-o", "/dev/null/x.json");
    EXPECT(6, "could not connect to the source", "--table", "t", "--source", uri);
    EXPECT(2, "option \"--source\"", "--table", "t", "--source",
           "postgresql://u@127.0.0.1:1/db?no_such=1");
}
END_TEST

START_TEST(a_credential_that_is_not_whole)
{
    const char *uri = "postgresql://u@127.0.0.1:1/db";
    ck_assert_int_eq(setenv("ROWFERRY_USER", "somebody", 1), 0);
    EXPECT(2, "$ROWFERRY_USER is set without $ROWFERRY_PASSWORD", "--table", "t", "--source", uri);
    ck_assert_int_eq(setenv("ROWFERRY_PASSWORD", SHOP_PASSWORD, 1), 0);
    EXPECT(2, "it would send a credential over http:// to another host", "--table", "t", "--source",
           uri, "--service", "http://search.invalid:9200");
    ck_assert_int_eq(setenv("ROWFERRY_CA_FILE", "/no/such/ca.pem", 1), 0);
    EXPECT(2, "$ROWFERRY_CA_FILE: cannot read \"/no/such/ca.pem\": No such file", "--table", "t",
           "--source", uri);
    unsetenv("ROWFERRY_USER");
    unsetenv("ROWFERRY_PASSWORD");
    unsetenv("ROWFERRY_CA_FILE");
}
END_TEST

START_TEST(tables_that_cannot_be_documents)
{
    struct shop s;
    shop_open(
        &s,
        NOTES
        "create schema one; create schema two; create table one.twice (id int primary key); create "
        "table two.twice (id int primary key); create table nokey (a int, b text); create view "
        "keyless as select body from notes; create materialized view kept as select * from notes; "
        "create unlogged table fleeting (id int primary key); create table alone (id int primary "
        "key); create table tags (id int primary key, note int references notes); create table "
        "pairs (a int, b int, primary key (a, b)); create table marks (id int primary key, a int "
        "not null, b int, foreign key (a, b) references pairs); create sequence counter",
        NULL);
    EXPECT(1, "it is a sequence, and not a table", "--source", s.uri, "--table", "counter");
    EXPECT(1, "hint: did you mean \"public.notes\"?", "--source", s.uri, "--table", "note");
    EXPECT(1, "table \"twice\" is in several schemas: one.twice, two.twice", "--source", s.uri,
           "--table", "twice");
    EXPECT(2, "unterminated quoted identifier", "--source", s.uri, "--table", "\"notes");
    EXPECT(1, "nothing identifies a row of \"public.nokey\": no primary key", "--source", s.uri,
           "--table", "nokey");
    EXPECT(1, "the view \"public.keyless\" shows the key of no table", "--source", s.uri, "--table",
           "keyless");
    EXPECT(1, "a view has no changes of its own", "--source", s.uri, "--table", "kept");
    EXPECT(1, "is temporary or unlogged", "--source", s.uri, "--table", "fleeting");
    EXPECT(1, "no foreign key joins \"public.alone\" and \"public.notes\"", "--source", s.uri,
           "--table", "notes", "--with", "alone");
    EXPECT(2, "option \"--with\" names \"public.tags\" twice", "--source", s.uri, "--table",
           "notes", "--with", "tags", "public.tags");
    EXPECT(1, "\"public.marks\" is joined by several columns, of which one may be NULL", "--source",
           s.uri, "--table", "pairs", "--with", "marks");
    EXPECT(1, "table \"public.no\" does not exist", "--source", s.uri, "--table", "notes", "--with",
           "no");
    shop_close(&s);
}
END_TEST

/* The planner runs code of the table's owner, with the rights of who reads. */
START_TEST(a_superuser_does_not_look_at_the_table_of_another)
{
    struct shop s;
    char role[32];
    shop_open(&s, NOTES, NULL);
    snprintf(role, sizeof(role), "notes_owner_%d", (int)getpid());
    PGconn *conn = sql_open(s.root);
    sql_exec(conn, "create role %1$s; alter table notes owner to %1$s", role);
    EXPECT(1, "may run code of its owner \"notes_owner_", "--source", s.root, "--table", "notes");
    sql_exec(conn, "drop owned by %1$s; drop role %1$s", role);
    PQfinish(conn);
    shop_close(&s);
}
END_TEST

START_TEST(a_service_that_does_not_answer_is_a_comment)
{
    struct shop s;
    char url[64];
    shop_open(&s, NOTES, NULL);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", free_port());
    EXPECT(0, "could not identify the service: GET /: could not connect", "--source", s.uri,
           "--table", "notes", "--service", url, "-o", s.config);
    shop_says(&s, "// It could not be identified: GET /: could not connect");
    shop_says(&s, "\"number_of_replicas\": 1");
    shop_runs(&s, "source", "install");
    EXPECT(0, "\"table\": \"public.notes\"", "--source", s.uri, "--table", "notes", "--service",
           url, "-o", "-");
    shop_close(&s);
}
END_TEST

START_TEST(a_file_is_replaced_only_when_told_to)
{
    struct shop s;
    shop_open(&s, NOTES, NULL);
    free(scratch_write(s.dir, "rowferry.json", "precious"));
    EXPECT(2, "already exists", "--source", s.uri, "--table", "notes", "-o", s.config, "--service",
           s.service.url);
    shop_says(&s, "precious");
    EXPECT(0, "is written; next: rowferry -c ", "--source", s.uri, "--table", "notes", "-o",
           s.config, "--force", "--service", s.service.url);
    shop_loads(&s, 50);
    char *link = scratch_path(s.dir, "link.json");
    char *pipe = scratch_path(s.dir, "pipe");
    ck_assert_int_eq(symlink(s.config, link), 0);
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    EXPECT(2, "link.json\" is not a regular file, and is not replaced", "--source", s.uri,
           "--table", "notes", "-o", link, "--force", "--service", s.service.url);
    EXPECT(2, "pipe\" is not a regular file, and is not replaced", "--source", s.uri, "--table",
           "notes", "-o", pipe, "--force", "--service", s.service.url);
    free(pipe);
    free(link);
    shop_close(&s);
}
END_TEST

START_TEST(a_role_that_may_not_install_follows_a_column_or_is_told_whom_to_ask)
{
    struct shop s;
    shop_open(&s,
              NOTES "create table plain (id int primary key); create index by_change on notes "
                    "(changed_at, id); analyze notes",
              NULL);
    char *reader = sql_text(s.conn, "select 'reader_' || current_database()");
    sql_exec(s.conn,
             "reset role; create role \"%s\" login password '" SHOP_PASSWORD
             "'; grant select on notes, plain to \"%s\"",
             reader, reader);
    char *uri = uri_as(s.root, reader);
    EXPECT(0, "", "--source", uri, "--table", "notes", "-o", s.config, "--service", s.service.url);
    shop_says(&s, "\"capture\": { \"mode\": \"cursor\", \"column\": \"changed_at\", \"deletes\": { "
                  "\"reconcile\": \"1h\" } }");
    shop_says(&s, "with the index by_change");
    shop_loads(&s, 50);
    EXPECT(0, "", "--source", uri, "--table", "plain", "-o", s.config, "--service", s.service.url,
           "--force");
    shop_says(&s, "may not install it: let a DBA run");
    rowferry_expect(0, s.config, "source", "install", "--as", s.root, NULL);
    shop_runs(&s, "check", NULL);
    shop_runs(&s, "sync", NULL);
    shop_runs(&s, "verify", NULL);
    EXPECT(0, "it is installed", "--source", uri, "--table", "plain", "--service", s.service.url);
    sql_exec(s.conn, "drop owned by \"%s\" cascade; drop schema rowferry cascade; drop role \"%s\"",
             reader, reader);
    free(uri);
    free(reader);
    shop_close(&s);
}
END_TEST

START_TEST(a_name_that_is_in_use_is_passed_over)
{
    struct shop s;
    shop_open(&s, NOTES, NULL);
    shop_init(&s, "notes", NULL);
    char *text = shop_text(&s);
    ck_assert(strstr(text, "-notes-2") == NULL);
    free(text);
    shop_loads(&s, 50);
    sql_exec(s.conn, "create schema other; create table other.notes (id int primary key)");
    free(scratch_write(s.dir, "first.json", ""));
    EXPECT(0, "-notes\",\n", "--source", s.uri, "--table", "notes", "--service", s.service.url);
    sql_exec(s.conn, "create table \"notes!\" (id int primary key)");
    EXPECT(0, "-notes\",\n", "--source", s.uri, "--table", "notes!", "--service", s.service.url);
    sql_exec(s.conn, "create table \"NOTES\" (id int primary key)");
    EXPECT(0, "-notes-2\",\n", "--source", s.uri, "--table", "NOTES", "--service", s.service.url);
    shop_close(&s);
}
END_TEST

START_TEST(the_name_of_another_databases_index_is_passed_over)
{
    struct shop s;
    char path[160];
    char body[512];
    shop_open(&s, NOTES, NULL);
    char *database = sql_text(s.conn, "select current_database()");
    snprintf(path, sizeof(path), "/%s-notes-1", database);
    snprintf(body, sizeof(body),
             "{\"aliases\":{\"%s-notes\":{}},\"mappings\":{\"_meta\":{\"rowferry\":{"
             "\"pipeline\":\"notes\",\"source\":\"1/%s\"}}}}",
             database, database);
    json_object_put(reply_json(200, "PUT", s.service.url, path, body, NULL));
    EXPECT(0, "-notes-2\",\n", "--source", s.uri, "--table", "notes", "--service", s.service.url);
    free(database);
    shop_close(&s);
}
END_TEST

START_TEST(an_api_key_of_the_environment_is_named_and_not_written)
{
    struct shop s;
    char *dir = scratch_new();
    char *key = scratch_write(dir, "key", "canary-key-19\n");
    const char *const options[] = {"--api-key-file", key, NULL};
    shop_open(&s, NOTES, options);
    EXPECT(0, ": 401 Unauthorized", "--source", s.uri, "--table", "notes", "--service",
           s.service.url);
    ck_assert_int_eq(setenv("ROWFERRY_API_KEY", "canary-key-19", 1), 0);
    shop_init(&s, "notes", NULL);
    shop_says(&s, "\"auth\": { \"api_key\": { \"env\": \"ROWFERRY_API_KEY\" } },");
    ck_assert(!shop_has(&s, "canary-key"));
    shop_loads(&s, 50);
    EXPECT(2, "it would send a credential over http:// to another host", "--source", s.uri,
           "--table", "notes", "--service", "http://search.invalid:9200");
    unsetenv("ROWFERRY_API_KEY");
    shop_close(&s);
    free(key);
    scratch_remove(dir);
}
END_TEST

/* --- on a terminal -----------------------------------------------------------------------------
 */

/* Answers each question when it appears and collects the output; returns the exit code. */
static int converse(const struct shop *s, const char *option, const char *const *questions,
                    const char *const *answers, struct buf *shown)
{
    int fd = -1;
    int status = 0;
    char byte;
    pid_t pid = forkpty(&fd, NULL, NULL, NULL);
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        setenv("NO_COLOR", "1", 1);
        execl(getenv("ROWFERRY_PROGRAM"), "rowferry", "init", "--source", s->uri, "--table",
              "notes", "-o", s->config, option, (char *)NULL);
        _exit(127);
    }
    for (size_t asked = 0; read(fd, &byte, 1) == 1;) {
        buf_push_char(shown, byte);
        if (*questions != NULL && strstr(buf_text(shown) + asked, *questions) != NULL &&
            shown->len > 2 && strcmp(shown->data + shown->len - 2, "] ") == 0) {
            ck_assert_int_gt(dprintf(fd, "%s\n", *answers++), 0);
            asked = shown->len;
            questions++;
        }
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    close(fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

START_TEST(on_a_terminal_it_asks_what_cannot_be_known)
{
    struct shop s;
    struct buf shown;
    buf_init(&shown, 1 << 20);
    shop_open(&s, NOTES, NULL);
    const char *const questions[] = {"URL of the search service [http://127.0.0.1:9200] ",
                                     "URL of the search service [http://127.0.0.1:9200] ",
                                     "Alias that people search [",
                                     "Alias that people search [",
                                     "(nothing installed) [changelog] ",
                                     NULL};
    const char *const answers[] = {"nonsense", s.service.url, "No Name", " team-notes ", "cursor"};
    int code = converse(&s, NULL, questions, answers, &shown);
    ck_assert_msg(code == 0, "%d: %s", code, buf_text(&shown));
    ck_assert_ptr_nonnull(strstr(buf_text(&shown), "it must begin with https:// or http://"));
    shop_says(&s, "\"index\": \"team-notes\"");
    shop_says(&s, "\"mode\": \"cursor\"");
    shop_loads(&s, 50);
    buf_release(&shown);
    shop_close(&s);
}
END_TEST

START_TEST(yes_asks_nothing_and_an_end_of_the_answers_writes_nothing)
{
    struct shop s;
    struct buf shown;
    static const char *const none[] = {NULL};
    static const char *const end[] = {"\004"};
    static const char *const first[] = {"URL of the search service", NULL};
    struct stat status;
    buf_init(&shown, 1 << 20);
    shop_open(&s, NOTES, NULL);
    ck_assert_int_eq(converse(&s, NULL, first, end, &shown), 1);
    ck_assert_int_eq(stat(s.config, &status), -1);
    buf_reset(&shown);
    ck_assert_int_eq(converse(&s, "--yes", none, none, &shown), 0);
    ck_assert_ptr_null(strstr(buf_text(&shown), "URL of"));
    shop_says(&s, "\"url\": \"http://127.0.0.1:9200\"");
    buf_release(&shown);
    shop_close(&s);
}
END_TEST

SUITE_MAIN("cli/init_messages", what_argv_alone_shows_to_be_wrong, a_credential_that_is_not_whole,
           tables_that_cannot_be_documents, a_service_that_does_not_answer_is_a_comment,
           a_superuser_does_not_look_at_the_table_of_another, a_file_is_replaced_only_when_told_to,
           a_role_that_may_not_install_follows_a_column_or_is_told_whom_to_ask,
           a_name_that_is_in_use_is_passed_over, the_name_of_another_databases_index_is_passed_over,
           an_api_key_of_the_environment_is_named_and_not_written,
           on_a_terminal_it_asks_what_cannot_be_known,
           yes_asks_nothing_and_an_end_of_the_answers_writes_nothing)
