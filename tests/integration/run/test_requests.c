/* SPDX-License-Identifier: Apache-2.0 */
/* One run carries out every request that other commands can make. */
#include "runs.h"

#define PROPERTIES                                                                                 \
    "\"title\":{\"type\":\"long\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

/* Runs a command of up to four words while the run holds the pipeline; the rest are null. */
static void ask(const struct world *w, int exit_code, const char *words, const char *const *argv)
{
    struct program_result result;
    const char *const *a = argv;
    rowferry_run(&result, w->config, a[0], a[1], a[2], a[3], NULL);
    ck_assert_msg(result.exit_code == exit_code, "%s %s ended with %d: %s%s", a[0],
                  a[1] != NULL ? a[1] : "", result.exit_code, result.out, result.err);
    expect_text(result.out, words);
    program_result_release(&result);
}

#define ASK(w, exit_code, words, ...)                                                              \
    ask((w), (exit_code), (words), (const char *const[]){__VA_ARGS__, NULL, NULL, NULL, NULL})

static void spoil(const struct world *w, const char *method, const char *path, const char *body)
{
    struct reply reply;
    reply_get(&reply, method, w->service.url, path, body, "ApiKey " WORLD_API_KEY);
    ck_assert_msg(reply.status < 300, "%s %s: %ld", method, path, (long)reply.status);
    reply_release(&reply);
}

static void await_letters(const struct world *w, int64_t count)
{
    char text[64];
    snprintf(text, sizeof(text), "\"dead_letters\":%lld,", (long long)count);
    struct deadline deadline = deadline_after(WAIT_MS);
    for (bool has = false; !has;) {
        struct program_result result;
        rowferry_run(&result, w->config, "status", "--json", NULL);
        has = strstr(result.out, text) != NULL;
        ck_assert_msg(has || deadline_wait(&deadline), "never %s: %s", text, result.out);
        program_result_release(&result);
    }
}

static void await_number(struct world *w, int64_t id, const char *title)
{
    sql_exec(w->conn, "update articles set title = '%s' where source_id = %lld", title,
             (long long)id);
    await_title(w, id, title);
    world_await_settled(w); /* earlier changes are in other requests */
    world_expect_equal(w);
}

static void letters_and_keys(struct world *w)
{
    sql_exec(w->conn, "update articles set title = 'words' where source_id in (7, 8)");
    await_letters(w, 2);
    ASK(w, 0, "1 dead letter discarded", "deadletter", "discard", "--yes", "7");
    ASK(w, 3, "1 rejected", "deadletter", "retry", "8");
    sql_exec(w->conn, "update articles set title = source_id where source_id in (7, 8)");
    await_letters(w, 0);
    ASK(w, 0, "articles", "resync", "5", "2000000");
    ASK(w, 0, "articles", "resync", "--where", "source_id < 20");
    await_number(w, 1, "101");
    spoil(w, "DELETE", "/shop-articles/_doc/30?refresh=true", NULL);
    ASK(w, 0, "articles", "verify", "--repair");
    world_expect_equal(w);
}

static void guards(struct world *w, struct program *p)
{
    sql_exec(w->conn, "delete from articles where source_id > 700");
    program_await(p, "event=guard pipeline=articles", WAIT_MS);
    ASK(w, 0, "300 deletes", "sync", "--allow-deletes");
    await_number(w, 2, "102");
    sql_exec(w->conn, "update articles set title = 'words' where source_id <= 300");
    await_status(w, "articles", "operations refused for one reason");
    ASK(w, 3, "articles", "sync", "--allow-rejections");
    await_letters(w, 300);
    sql_exec(w->conn, "update articles set title = source_id");
    await_letters(w, 0);
    await_number(w, 3, "103");
}

static void rebuilds(struct world *w)
{
    ASK(w, 0, "rebuilt as shop-articles-", "reindex");
    await_number(w, 4, "104");
    ASK(w, 0, "rolled back to shop-articles-", "reindex", "--rollback");
    await_number(w, 5, "105");
    ASK(w, 0, "no rebuild is under way", "reindex", "--abort");
}

START_TEST(one_living_run_does_all_that_it_is_asked)
{
    struct world w;
    struct program p;
    world_start(&w, 1000, NULL);
    world_configure(&w, PROPERTIES, "");
    sql_exec(w.conn, "update articles set title = source_id");
    world_install(&w);
    start_run(&w, &p);
    letters_and_keys(&w);
    guards(&w, &p);
    ASK(&w, 0, "paused since", "pause");
    sql_exec(w.conn, "update articles set title = '7' where source_id = 77");
    ASK(&w, 0, "resumed", "resume");
    await_number(&w, 6, "106");
    rebuilds(&w);
    world_configure(&w, PROPERTIES, "\"batch_operations\": 50");
    program_signal(&p, SIGHUP);
    program_await(&p, "event=option_changed option=limits.batch_operations", WAIT_MS);
    await_number(&w, 9, "109");
    ASK(&w, 0, "articles", "resync", "9");
    ASK(&w, 0, "articles", "verify");
    end_run(&p);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/requests", one_living_run_does_all_that_it_is_asked)
