/* SPDX-License-Identifier: Apache-2.0 */
/* A connection pooler between rowferry and the source: nothing of ours reaches its other clients.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sql.h"
#include "suite.h"
#include "world.h"

#define CLIENTS 20
#define REFUSED                                                                                    \
    "the source is behind a connection pooler in transaction or statement mode, which would hand " \
    "our session's settings and locks to other clients"
#define NOTHING_RESET "server_reset_query =\n"

/* Returns $ROWFERRY_TEST_PGBOUNCER, another version for example, or Debian's. */
static const char *pgbouncer(void)
{
    const char *chosen = getenv("ROWFERRY_TEST_PGBOUNCER");
    return chosen != NULL ? chosen : "/usr/sbin/pgbouncer";
}

#define BARRIER "7263401"

/* All that a session can leave behind. At the end it waits for the barrier, so that all clients use
 * a server connection at the same time, and each has another one. */
#define STATE                                                                                      \
    "select concat_ws(E'\\n',"                                                                     \
    " (select string_agg(name || ' = ' || setting, E'\\n' order by name) from pg_settings"         \
    "  where name not like 'plpgsql.%')," /* appear when the library is loaded */                  \
    " (select 'locks: ' || string_agg(distinct concat_ws(' ', locktype, relation::regclass,"       \
    "  classid, objid, mode), ', ') from pg_locks where pid = pg_backend_pid()"                    \
    "  and locktype <> 'virtualxid' and objid is distinct from " BARRIER "),"                      \
    " (select 'prepared: ' || string_agg(name, ', ') from pg_prepared_statements),"                \
    " (select 'listens: ' || string_agg(c, ', ') from pg_listening_channels() c),"                 \
    " (select 'cursors: ' || string_agg(name, ', ') from pg_cursors where name <> ''),"            \
    " (select 'temporary: ' || string_agg(relname, ', ') from pg_class"                            \
    "  where relnamespace = pg_my_temp_schema())), pg_backend_pid(), "                             \
    "pg_advisory_xact_lock_shared(" BARRIER ")"

struct pool {
    struct program program;
    PGconn *direct; /* to the server; not owned */
    char *dir;
    char *uri; /* of the world's database through the pooler */
    int port;
    int size;
    char *state; /* of an untouched server connection */
};

static void write_file(const struct pool *p, const char *name, const char *text)
{
    char *path = scratch_write(p->dir, name, text);
    ck_assert_int_eq(chmod(path, 0644), 0); /* PgBouncer refuses to run as root */
    free(path);
}

static void pool_begin(struct pool *p, const struct world *w, const char *mode, int size,
                       const char *more)
{
    char text[1024];
    char config[128];
    char users[64];
    p->dir = scratch_new();
    p->direct = w->conn;
    ck_assert_int_eq(chmod(p->dir, 0755), 0);
    p->size = size;
    snprintf(users, sizeof(users), "\"%s\" \"\"\n", PQuser(w->conn));
    write_file(p, "users", users);
    snprintf(text, sizeof(text),
             "[databases]\n* = host=%s port=%s\n"
             "[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"
             "auth_type = trust\nauth_file = %s/users\npool_mode = %s\ndefault_pool_size = %d\n%s",
             PQhost(w->conn), PQport(w->conn), p->port, p->dir, mode, size, more);
    write_file(p, "pgbouncer.ini", text);
    snprintf(config, sizeof(config), "%s/pgbouncer.ini", p->dir);
    const char *const as_user[] = {"/usr/bin/setpriv",
                                   "--reuid=nobody",
                                   "--regid=nogroup",
                                   "--clear-groups",
                                   "--pdeathsig=KILL",
                                   pgbouncer(),
                                   config,
                                   NULL};
    program_start(&p->program, geteuid() == 0 ? as_user : as_user + 5, NULL);
    program_await(&p->program, "process up", WAIT_MS);
    ck_assert_int_ge(asprintf(&p->uri, "postgresql://%s@127.0.0.1:%d/%s", PQuser(w->conn), p->port,
                              PQdb(w->conn)),
                     0);
}

static void pool_end(struct pool *p)
{
    struct program_result result;
    program_signal(&p->program, SIGTERM);
    program_finish(&p->program, WAIT_MS, &result);
    program_result_release(&result);
    scratch_remove(p->dir);
    free(p->uri);
    free(p->state);
}

/* Returns where the first differing line begins in both; SIZE_MAX: they are equal. */
static size_t first_difference(const char *a, const char *b)
{
    size_t line = 0;
    for (size_t i = 0; a[i] == b[i]; i++) {
        if (a[i] == '\0') {
            return SIZE_MAX;
        }
        line = a[i] == '\n' ? i + 1 : line;
    }
    return line;
}

static void await_waiting(const struct pool *p)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(p->direct,
                   "select count(*) from pg_locks where locktype = 'advisory' and objid = " BARRIER
                   " and not granted and database = (select oid from pg_database where datname = "
                   "current_database())") < p->size) {
        ck_assert(deadline_wait(&deadline));
    }
}

/* Compares the state of all server connections of the pool with that of an untouched one. */
static void expect_untouched(struct pool *p, const char *after)
{
    PGconn *clients[CLIENTS];
    int pids[CLIENTS];
    sql_exec(p->direct, "select pg_advisory_lock(" BARRIER ")");
    for (int i = 0; i < p->size; i++) {
        clients[i] = sql_open(p->uri);
        ck_assert_int_eq(PQsendQuery(clients[i], STATE), 1);
    }
    await_waiting(p);
    sql_exec(p->direct, "select pg_advisory_unlock(" BARRIER ")");
    for (int i = 0; i < p->size; i++) {
        PGresult *r = PQgetResult(clients[i]);
        ck_assert_msg(PQntuples(r) == 1, "%s: %s", after, PQerrorMessage(clients[i]));
        const char *state = PQgetvalue(r, 0, 0);
        p->state = p->state != NULL ? p->state : strdup(state);
        size_t line = first_difference(state, p->state);
        ck_assert_msg(line == SIZE_MAX, "%s changed a server connection: %.80s, before: %.80s",
                      after, state + line, p->state + line);
        pids[i] = atoi(PQgetvalue(r, 0, 1));
        for (int before = 0; before < i; before++) {
            ck_assert_int_ne(pids[i], pids[before]);
        }
        PQclear(r);
    }
    for (int i = 0; i < p->size; i++) {
        PQfinish(clients[i]);
    }
}

/* Begins a world and a pool, and makes the world use it. */
static void begin(struct world *w, struct pool *p, const char *mode, int size, const char *more)
{
    static char source[256];
    world_start(w, 300, NULL);
    *p = (struct pool){.port = free_port()};
    pool_begin(p, w, mode, size, more);
    expect_untouched(p, "nothing");
    snprintf(source, sizeof(source), "\"uri\": \"%s\"", p->uri);
    w->source = source;
    world_configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"");
}

static void end(struct world *w, struct pool *p)
{
    pool_end(p);
    world_stop(w);
}

static void run_init(const struct world *w, const struct pool *p, struct program_result *result)
{
    struct program program;
    char *config = scratch_path(w->dir, "proposed.json");
    unlink(config);
    program_start(&program,
                  (const char *const[]){getenv("ROWFERRY_PROGRAM"), "init", "--source", p->uri,
                                        "--table", "articles", "--service", w->service.url, "-o",
                                        config, NULL},
                  NULL);
    program_finish(&program, RUN_MS, result);
    free(config);
}

static const struct {
    const char *words[2];
    int refused_code; /* in another mode than session; 0 is expected in session mode */
} commands[] = {
    {{"init"}, 1},        {{"source", "print"}, 1}, {{"source", "install"}, 1},
    {{"check"}, 4},       {{"validate"}, 1},        {{"sync"}, 1},
    {{"run"}, 1},         {{"verify"}, 1},          {{"reindex"}, 1},
    {{"resync", "5"}, 1}, {{"status"}, 0},
};

#define EACH_COMMAND (sizeof(commands) / sizeof(commands[0]))

static void run_run(struct world *w, bool refused, struct program_result *result)
{
    struct program program;
    rowferry_start(&program, w->config, "run", NULL);
    if (refused) { /* it waits for a correction */
        program_await(&program, REFUSED, WAIT_MS);
    } else {
        sql_exec(w->conn, "insert into articles select max(source_id) + 1 from articles");
        world_await_equal(w, WAIT_MS);
    }
    program_signal(&program, SIGTERM);
    program_finish(&program, WAIT_MS, result);
}

static void run_command(struct world *w, struct pool *p, size_t i, bool refused)
{
    struct program_result r;
    const char *const *words = commands[i].words;
    int expected = refused ? commands[i].refused_code : 0;
    if (strcmp(words[0], "init") == 0) {
        run_init(w, p, &r);
    } else if (strcmp(words[0], "run") == 0) {
        run_run(w, refused, &r);
    } else {
        rowferry_run(&r, w->config, words[0], words[1], NULL);
    }
    ck_assert_msg(r.exit_code == expected, "%s: %d\n%.900s\n%.900s", words[0], r.exit_code, r.out,
                  r.err);
    bool said = strstr(r.out, REFUSED) != NULL || strstr(r.err, REFUSED) != NULL;
    ck_assert_msg(said == refused, "%s: %.900s\n%.900s", words[0], r.out, r.err);
    program_result_release(&r);
    expect_untouched(p, words[0]);
}

/* The pooler is configured to reset nothing. */
START_TEST(session_mode_leaves_nothing)
{
    struct world w;
    struct pool p;
    begin(&w, &p, "session", CLIENTS, NOTHING_RESET);
    for (size_t i = 0; i < EACH_COMMAND; i++) {
        run_command(&w, &p, i, false);
    }
    end(&w, &p);
}
END_TEST

START_TEST(transaction_mode_is_refused)
{
    struct world w;
    struct pool p;
    begin(&w, &p, "transaction", 1, "");
    for (size_t i = 0; i < EACH_COMMAND; i++) {
        run_command(&w, &p, i, true);
    }
    end(&w, &p);
}
END_TEST

static void expect_refused(const struct world *w, struct pool *p)
{
    struct program_result r;
    rowferry_run(&r, w->config, "check", "--json", NULL);
    ck_assert_msg(r.exit_code == 4 &&
                      strstr(r.out, "\"line\":\"pooler\",\"status\":\"FAIL\"") != NULL,
                  "%.900s", r.out);
    expect_text(r.out, REFUSED);
    program_result_release(&r);
    expect_untouched(p, "check");
}

/* Server connections that nobody uses are lent in any order. */
START_TEST(a_shared_pool_of_any_size_is_refused)
{
    static const char *const modes[] = {"transaction", "statement"};
    static const char *const orders[] = {"server_round_robin = 0\n", "server_round_robin = 1\n"};
    static const int sizes[] = {1, 2, 3, CLIENTS};
    for (size_t i = 0; i < 16; i++) {
        struct world w;
        struct pool p;
        begin(&w, &p, modes[i / 8], sizes[i % 4], orders[i / 4 % 2]);
        expect_refused(&w, &p);
        end(&w, &p);
    }
}
END_TEST

/* The second connection may come to the other pool, whose server connections differ. */
START_TEST(two_shared_pools_on_one_port_are_refused)
{
    struct world w;
    struct pool p;
    struct pool other;
    begin(&w, &p, "transaction", 1, "so_reuseport = 1\n");
    other = (struct pool){.port = p.port};
    pool_begin(&other, &w, "transaction", 1, "so_reuseport = 1\n");
    for (int i = 0; i < 6; i++) {
        expect_refused(&w, &p);
    }
    pool_end(&other);
    end(&w, &p);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {session_mode_leaves_nothing, transaction_mode_is_refused,
                                  a_shared_pool_of_any_size_is_refused,
                                  two_shared_pools_on_one_port_are_refused};
    if (access(pgbouncer(), X_OK) != 0) {
        puts("skip: there is no PgBouncer (apt-get install pgbouncer)");
        return 77;
    }
    return suite_run("source/pooler", tests, sizeof(tests) / sizeof(tests[0]));
}
