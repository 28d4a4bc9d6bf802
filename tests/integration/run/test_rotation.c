/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials that change during `run`. */
#include "runs.h"

#define NEXT_KEY "canary-next-key-8d21"

/* Restarts the service with its data and the key that is now in the file. */
static void service_again(struct world *w)
{
    char *key = scratch_path(w->dir, "key");
    char *data = scratch_path(w->dir, "data");
    int port = w->service.port;
    devsearch_stop(&w->service);
    devsearch_start_at(&w->service, port,
                       (const char *const[]){"--api-key-file", key, "--data", data, NULL});
    free(key);
    free(data);
}

static bool has_title_by(const struct world *w, const char *key, int id, const char *title)
{
    char path[64];
    struct reply reply;
    snprintf(path, sizeof(path), "/shop-articles/_doc/%d", id);
    reply_get(&reply, "GET", w->service.url, path, NULL, key);
    bool has = reply.status == 200 && strstr(reply.body, title) != NULL;
    reply_release(&reply);
    return has;
}

static void await_title_by(const struct world *w, const char *key, int id, const char *title)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (!has_title_by(w, key, id, title)) {
        ck_assert_msg(deadline_wait(&deadline), "never \"%s\"", title);
    }
}

START_TEST(a_rotated_api_key_does_not_end_it)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    char *data = scratch_path(w.dir, "data");
    devsearch_stop(&w.service);
    char *key = scratch_path(w.dir, "key");
    devsearch_start(&w.service, (const char *const[]){"--api-key-file", key, "--data", data, NULL});
    world_configure(&w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"");
    world_install(&w);
    start_run(&w, &p);
    free(scratch_write(w.dir, "key", NEXT_KEY "\n"));
    service_again(&w);
    set_title(&w, 5, "rotated");
    await_title_by(&w, "ApiKey " NEXT_KEY, 5, "rotated");
    ck_assert(program_running(&p));
    stop_run(&p, SIGTERM, 0, &result);
    ck_assert_ptr_null(strstr(result.err, "canary"));
    program_result_release(&result);
    free(key);
    free(data);
    world_stop(&w);
}
END_TEST

/* Creates the role "rotated_reader", which may read; its password is in a file. */
static void configure_reader(struct world *w, char *source, size_t size)
{
    sql_exec(w->conn, "do $$ begin if not exists (select from pg_roles where rolname = "
                      "'rotated_reader') then create role rotated_reader login; end if; end $$;"
                      "alter role rotated_reader password 'canary-first-pass'");
    free(scratch_write(w->dir, "password", "canary-first-pass\n"));
    char *uri = uri_as(w->uri, "rotated_reader");
    snprintf(source, size, "\"uri\": \"%s\", \"password\": {\"file\": \"%s/password\"}", uri,
             w->dir);
    free(uri);
    rowferry_expect(0, w->config, "source", "install", "--reader", "rotated_reader", NULL);
    sql_exec(w->conn, "grant select on articles to rotated_reader");
    w->source = source;
    world_configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"");
}

/* Replaces the file atomically, because terminated sessions may be about to read it. */
static void replace_password(const struct world *w, const char *text)
{
    char *path = scratch_path(w->dir, "password");
    char *next = scratch_write(w->dir, "password.next", text);
    ck_assert_int_eq(rename(next, path), 0);
    free(next);
    free(path);
}

static void end_sessions(const struct world *w)
{
    sql_exec(w->conn, "select pg_terminate_backend(pid) from pg_stat_activity where usename = "
                      "'rotated_reader' and datname = current_database()");
}

START_TEST(a_rotated_database_password_does_not_end_it)
{
    struct world w;
    struct program p;
    struct program_result result;
    char source[1024];
    world_start(&w, 100, NULL);
    configure_reader(&w, source, sizeof(source));
    start_run(&w, &p);
    for (int turn = 0; turn < 2; turn++) {
        char title[32];
        char password[64];
        snprintf(title, sizeof(title), "turn %d", turn);
        snprintf(password, sizeof(password), "canary-pass-%d\n", turn);
        replace_password(&w, password);
        sql_exec(w.conn, "alter role rotated_reader password 'canary-pass-%d'", turn);
        end_sessions(&w);
        set_title(&w, 5, title);
        await_title(&w, 5, title);
    }
    ck_assert(program_running(&p));
    stop_run(&p, SIGTERM, 0, &result);
    ck_assert_ptr_null(strstr(result.err, "canary"));
    program_result_release(&result);
    sql_exec(w.conn, "drop owned by rotated_reader");
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/rotation", a_rotated_api_key_does_not_end_it,
           a_rotated_database_password_does_not_end_it)
