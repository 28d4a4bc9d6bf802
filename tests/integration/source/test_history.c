/* SPDX-License-Identifier: Apache-2.0 */
/* Random histories: sessions overlap, while a reader polls, stops and resumes. At every quiet point
 * the mirror must equal the table. A failure's message has the seed. */
#include "walk.h"

enum { SESSIONS = 4, STEPS = 400, HISTORIES = 6, CURSOR_HISTORIES = 3 };

static const char *const columns[] = {"a", "body"};

#define KEY "replace(replace(a, '\\', '\\\\'), ':', '\\:') || ':' || b as key"
#define NOTES_QUERY "select " KEY ", a || '|' || body as content from note"

/* Statements of a history, and how its table is read. */
struct kind {
    const char *ddl;
    const char *query;
    const char *where;
    const char *cursor;
    const char *const *statements; /* %1$u is replaced by a number */
    unsigned count;
};

static const char *const any_change[] = {
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

static const char *const soft_change[] = {
    "insert into note select 'k', %1$u, 'new ' || random() on conflict (a, b) do nothing",
    ("insert into note select 'k', i, 'up ' || random() from generate_series(%1$u, %1$u + 3) i "
     "on conflict (a, b) do update set body = excluded.body, gone = false"),
    "update note set body = 'u ' || random() where b between %1$u and %1$u + 4",
    "update note set gone = true where b between %1$u and %1$u + 2",
    "update note set gone = not gone where b = %1$u",
    "begin",
    "begin",
    "commit",
    "rollback",
    "savepoint s",
    "rollback to savepoint s",
};

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

/* A trigger sets the cursor column. */
#define SOFT_DDL(type, value)                                                                      \
    "create sequence tick; create table note (a text, b int, body text, gone boolean not null "    \
    "default false, at " type " not null, primary key (a, b)); create index on note (at, a, b);"   \
    "create function touch() returns trigger language plpgsql as $$ begin new.at := " value        \
    "; return new; end $$; create trigger touch before insert or update on note for each row "     \
    "execute function touch()"

static const struct kind changelog = {
    .ddl = "create table note (a text, b int, body text, primary key (a, b))",
    .query = NOTES_QUERY,
    .statements = any_change,
    .count = COUNT_OF(any_change),
};

static const struct kind cursor = {
    .ddl = SOFT_DDL("timestamptz", "now()"),
    .query = NOTES_QUERY " where not gone",
    .where = "not gone",
    .cursor = "at",
    .statements = soft_change,
    .count = COUNT_OF(soft_change),
};

/* The time of a number is unknown, and the overlap is far too short. */
static const struct kind broken = {
    .ddl = SOFT_DDL("bigint", "nextval('tick')"),
    .query = NOTES_QUERY " where not gone",
    .where = "not gone",
    .cursor = "at",
    .statements = soft_change,
    .count = COUNT_OF(soft_change),
};

struct history {
    const struct kind *kind;
    uint64_t seed;
    struct walk walk;
    PGconn *sessions[SESSIONS];
};

static unsigned roll(struct history *h, unsigned sides)
{
    h->seed = h->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(h->seed >> 33) % sides;
}

/* Runs a statement that may fail: a conflict or a lock ends the transaction. */
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
    PGconn *session = h->sessions[roll(h, SESSIONS)];
    struct buf sql;
    buf_init(&sql, 4096);
    const char *statement = h->kind->statements[roll(h, h->kind->count)];
    char number[16];
    snprintf(number, sizeof(number), "%u", roll(h, 60));
    for (const char *at = statement; *at != '\0'; at++) {
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

/* Waits a moment, because a cursor's horizon passes recent writes with a delay. */
static bool becomes_equal(struct history *h, int64_t within_ms)
{
    struct deadline deadline = deadline_after(within_ms);
    do {
        walk_drain(&h->walk);
        if (walk_differences(&h->walk, h->kind->query) == 0) {
            return true;
        }
    } while (h->kind->cursor != NULL && deadline_wait(&deadline));
    return false;
}

static bool quiet_point(struct history *h, int64_t within_ms)
{
    for (int i = 0; i < SESSIONS; i++) {
        PQclear(PQexec(h->sessions[i], roll(h, 2) == 0 ? "commit" : "rollback"));
    }
    if (h->kind->cursor == NULL) {
        walk_copy(&h->walk);
    }
    return becomes_equal(h, within_ms);
}

static void begin_history(struct history *h)
{
    walk_new(&h->walk, h->kind->ddl);
    for (int i = 0; i < SESSIONS; i++) {
        h->sessions[i] = sql_open(h->walk.uri);
        sql_exec(h->sessions[i], "set lock_timeout = '5ms'; set client_min_messages = error");
    }
    sql_exec(h->walk.db, "insert into note (a, b, body) select 'k', i, repeat('old', 100) from "
                         "generate_series(1, 60) i");
    walk_start(&h->walk);
}

static void end_history(struct history *h)
{
    for (int i = 0; i < SESSIONS; i++) {
        PQfinish(h->sessions[i]);
    }
    walk_free(&h->walk);
}

/* Returns true if the mirror equalled the table at every quiet point. */
static bool holds(const struct kind *kind, uint64_t seed, int64_t within_ms)
{
    struct history h = {.kind = kind,
                        .seed = seed * 0x9e3779b97f4a7c15u,
                        .walk = {.table = "note",
                                 .columns = columns,
                                 .column_count = 2,
                                 .where = kind->where,
                                 .cursor = kind->cursor,
                                 .overlap_ms = 1,
                                 .seen_slots = 16,
                                 .page_rows = 5,
                                 .page_blocks = 1,
                                 .chunk_bytes = 40,
                                 .breaks = breaks_off,
                                 .context = &h}};
    bool held = true;
    begin_history(&h);
    for (int step = 0; step < STEPS && held; step++) {
        if (roll(&h, 4) == 0) {
            read_some(&h);
        } else {
            act(&h);
        }
        held = step % 100 != 99 || quiet_point(&h, within_ms);
    }
    end_history(&h);
    return held;
}

START_TEST(the_index_equals_the_table_at_every_quiet_point)
{
    ck_assert_msg(holds(&changelog, (uint64_t)_i + 1, 0), "seed %d", _i + 1);
}
END_TEST

START_TEST(the_index_equals_the_rows_of_a_cursor_at_every_quiet_point)
{
    ck_assert_msg(holds(&cursor, (uint64_t)_i + 1, WAIT_MS), "seed %d", _i + 1);
}
END_TEST

START_TEST(a_reader_that_misses_late_commits_is_caught)
{
    bool caught = false;
    for (uint64_t seed = 1; seed <= HISTORIES && !caught; seed++) {
        caught = !holds(&broken, seed, 300);
    }
    ck_assert(caught);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/history");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, SUITE_TEST_S);
    tcase_add_loop_test(tcase, the_index_equals_the_table_at_every_quiet_point, 0, HISTORIES);
    tcase_add_loop_test(tcase, the_index_equals_the_rows_of_a_cursor_at_every_quiet_point, 0,
                        CURSOR_HISTORIES);
    tcase_add_test(tcase, a_reader_that_misses_late_commits_is_caught);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
