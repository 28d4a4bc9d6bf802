/* SPDX-License-Identifier: Apache-2.0 */
/* Random histories: sessions that overlap, a reader that polls, stops and resumes in between, and
 * at every quiet point the mirror equals the table. The seed is in the message of a failure. */
#include "walk.h"

enum { SESSIONS = 4, STEPS = 400, HISTORIES = 6 };

static const char *const columns[] = {"a", "body"};

#define NOTES "create table note (a text, b int, body text, primary key (a, b))"
#define NOTES_QUERY                                                                                \
    "select replace(replace(a, '\\', '\\\\'), ':', '\\:') || ':' || b as key, a || '|' || body "   \
    "as content from note"

struct history {
    uint64_t seed;
    struct walk walk;
    PGconn *sessions[SESSIONS];
};

static unsigned roll(struct history *h, unsigned sides)
{
    h->seed = h->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(h->seed >> 33) % sides;
}

/* A statement that may well fail: a conflict or a lock ends the transaction, as in life. */
static void attempt(PGconn *conn, const char *sql)
{
    PGresult *r = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(r);
    PQclear(r);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        PQclear(PQexec(conn, "rollback"));
    }
}

static void act(struct history *h)
{
    static const char *const statements[] = {
        "insert into note select 'k', %1$u, 'new ' || random() on conflict (a, b) do nothing",
        ("insert into note select 'k', i, 'up ' || random() from generate_series(%1$u, %1$u + 3) i "
         "on conflict (a, b) do update set body = excluded.body"),
        "update note set body = 'u ' || random() where b between %1$u and %1$u + 4",
        "update note set b = b + 50 where b = %1$u",
        "update note set a = case a when 'k' then 'k:\\' else 'k' end where b = %1$u",
        "delete from note where b = %1$u",
        "delete from note where b between %1$u and %1$u + 2",
        "begin",
        "begin",
        "commit",
        "rollback",
        "savepoint s",
        "rollback to savepoint s",
    };
    enum { COUNT = sizeof(statements) / sizeof(statements[0]) };
    PGconn *session = h->sessions[roll(h, SESSIONS)];
    struct buf sql;
    buf_init(&sql, 4096);
    unsigned choice = roll(h, COUNT);
    char number[16];
    snprintf(number, sizeof(number), "%u", roll(h, 60));
    for (const char *at = statements[choice]; *at != '\0'; at++) {
        if (strncmp(at, "%1$u", 4) == 0) {
            buf_push_text(&sql, number);
            at += 3;
        } else {
            buf_push_char(&sql, *at);
        }
    }
    attempt(session, buf_text(&sql));
    buf_release(&sql);
}

static bool breaks_off(void *context)
{
    return roll(context, 4) == 0;
}

static void read_some(struct history *h)
{
    walk_page(&h->walk);
    if (roll(h, 3) == 0) {
        walk_release(&h->walk);
    }
    if (roll(h, 4) == 0) {
        walk_again(&h->walk);
    }
}

static void quiet_point(struct history *h, uint64_t seed)
{
    for (int i = 0; i < SESSIONS; i++) {
        PQclear(PQexec(h->sessions[i], roll(h, 2) == 0 ? "commit" : "rollback"));
    }
    walk_copy(&h->walk);
    walk_drain(&h->walk);
    ck_assert_msg(walk_differences(&h->walk, NOTES_QUERY) == 0, "seed %llu",
                  (unsigned long long)seed);
}

START_TEST(the_index_equals_the_table_at_every_quiet_point)
{
    uint64_t seed = (uint64_t)_i + 1;
    struct history h = {.seed = seed * 0x9e3779b97f4a7c15u,
                        .walk = {.table = "note",
                                 .columns = columns,
                                 .column_count = 2,
                                 .page_rows = 5,
                                 .page_blocks = 1,
                                 .chunk_bytes = 40,
                                 .breaks = breaks_off,
                                 .context = &h}};
    walk_new(&h.walk, NOTES);
    for (int i = 0; i < SESSIONS; i++) {
        h.sessions[i] = sql_open(h.walk.uri);
        sql_exec(h.sessions[i], "set lock_timeout = '5ms'; set client_min_messages = error");
    }
    sql_exec(h.walk.db, "insert into note select 'k', i, repeat('old', 100) from "
                        "generate_series(1, 60) i");
    walk_start(&h.walk);
    for (int step = 0; step < STEPS; step++) {
        if (roll(&h, 4) == 0) {
            read_some(&h);
        } else {
            act(&h);
        }
        if (step % 100 == 99) {
            quiet_point(&h, seed);
        }
    }
    for (int i = 0; i < SESSIONS; i++) {
        PQfinish(h.sessions[i]);
    }
    walk_free(&h.walk);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/history");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, the_index_equals_the_table_at_every_quiet_point, 0, HISTORIES);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
