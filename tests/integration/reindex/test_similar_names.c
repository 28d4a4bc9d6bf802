/* SPDX-License-Identifier: Apache-2.0 */
/* Rebuilds of pipelines with similar aliases, and with foreign indices between theirs. */
#include <time.h>

#include "compare.h"
#include "rowferry/base/buf.h"
#include "stands.h"

#define ALIASES 4
#define OTHERS 4

/* The second is the first plus today's date; the last has the third as prefix. */
static char shop_today[] = "shop-yyyymmdd";
static const char *const aliases[ALIASES] = {"shop", shop_today, "shop-articles",
                                             "shop-articles-old"};

/* Named like generations, but not of these pipelines. */
static char shop_today_7[] = "shop-yyyymmdd-7";
static const char *const others[OTHERS] = {"shop-20200101-1", "shop-20990101-2",
                                           "shop-articles-20200101-1", shop_today_7};
static const char *const other_bodies[OTHERS] = {
    "{\"settings\":{\"number_of_replicas\":1}}",
    "{\"mappings\":{\"_meta\":{\"rowferry\":{\"pipeline\":\"another\"}}}}",
    "{\"mappings\":{\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\"}}}}",
    "{\"mappings\":{\"_meta\":{\"rowferry\":{}}}}"};

static void name_today(void)
{
    struct tm day;
    time_t now = time(NULL);
    gmtime_r(&now, &day);
    strftime(shop_today, sizeof(shop_today), "shop-%Y%m%d", &day);
    strftime(shop_today_7, sizeof(shop_today_7), "shop-%Y%m%d-7", &day);
}

static void configure(struct world *w, const char *const *names, size_t count, int keep)
{
    struct buf text;
    buf_init(&text, 64 << 10);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
               "\"%s\", \"auth\": "
               "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"}, "
               "\"pipelines\": [",
               w->uri, w->service.url, w->dir, w->dir);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&text,
                   "%s{\"name\": \"p%zu\", \"from\": {\"table\": \"public.articles\"}, \"to\": "
                   "{\"index\": \"%s\", \"keep\": %d, \"mappings\": {\"properties\": {%s}}}}",
                   i > 0 ? ", " : "", i, names[i], keep, OTHER_PROPERTIES);
    }
    buf_push_literal(&text, "]}");
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", buf_text(&text));
    buf_release(&text);
}

static void enter(struct world *w)
{
    world_start(w, 200, NULL);
    name_today();
    configure(w, aliases, ALIASES, 0);
    world_install(w);
    for (size_t i = 0; i < OTHERS; i++) {
        generations_do(w, "PUT", other_bodies[i], "/%s", others[i]);
    }
    rowferry_expect(0, w->config, "sync", NULL);
}

/* Expects one index per pipeline, and all foreign indices. */
static void expect_all(struct world *w, char *live[ALIASES])
{
    struct generations g;
    char *query = compare_table("articles", "source_id");
    generations_list(w, "shop", &g);
    ck_assert_uint_eq(g.count, ALIASES + OTHERS);
    generations_release(&g);
    for (size_t i = 0; i < OTHERS; i++) {
        ck_assert_int_eq(index_status(w, others[i]), 200);
    }
    for (size_t i = 0; i < ALIASES; i++) {
        free(live[i]);
        live[i] = generations_live(w, aliases[i]);
        expect_equal(sql_int(w->conn, "select count(*) from articles"), w->conn, query,
                     w->service.url, aliases[i], AUTH);
    }
    free(query);
}

static void leave(struct world *w, char *live[ALIASES])
{
    for (size_t i = 0; i < ALIASES; i++) {
        free(live[i]);
    }
    world_stop(w);
}

START_TEST(a_rebuild_leaves_the_indices_of_aliases_that_begin_alike_alone)
{
    struct world w;
    char *live[ALIASES] = {0};
    char *before[ALIASES];
    enter(&w);
    expect_all(&w, live);
    for (size_t i = 0; i < ALIASES; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%zu", i);
        for (size_t k = 0; k < ALIASES; k++) {
            before[k] = strdup(live[k]);
        }
        sql_exec(w.conn, "delete from articles where source_id = %zu", i + 1);
        rowferry_expect(0, w.config, "reindex", name, NULL);
        rowferry_expect(0, w.config, "sync", NULL);
        expect_all(&w, live);
        for (size_t k = 0; k < ALIASES; k++) {
            ck_assert_msg((strcmp(before[k], live[k]) != 0) == (k == i), "%s, then %s", before[k],
                          live[k]);
            free(before[k]);
        }
    }
    leave(&w, live);
}
END_TEST

START_TEST(all_at_once_and_some_given_up_each_keeps_to_its_own)
{
    struct world w;
    char *live[ALIASES] = {0};
    enter(&w);
    rowferry_expect(0, w.config, "reindex", NULL);
    expect_all(&w, live);
    for (size_t i = 0; i < ALIASES; i++) {
        struct program_result result;
        char name[8];
        snprintf(name, sizeof(name), "p%zu", i);
        stand_at(&w, "rebuild_finished=kill", name);
        rowferry_run(&result, w.config, "reindex", "--abort", NULL);
        ck_assert_int_eq(result.exit_code, 0);
        program_result_release(&result);
        expect_all(&w, live);
        rowferry_run(&result, w.config, "reindex", "--rollback", name, NULL);
        ck_assert_int_eq(result.exit_code, 1);
        expect_text(result.err, "no former generation is kept");
        program_result_release(&result);
    }
    expect_all(&w, live);
    leave(&w, live);
}
END_TEST

/* --- aliases that are names of indices, rollbacks -------------------------------------------- */

#define ADOPTED 3

static const char *const adopted[ADOPTED] = {"shop", "shop-articles", "shop-articles-2"};

struct adopters {
    struct world w;
    char *live[ADOPTED];
};

static size_t indices(const struct world *w)
{
    struct generations g;
    generations_list(w, "shop", &g);
    size_t count = g.count;
    generations_release(&g);
    return count;
}

/* Expects that the command changed only this pipeline's alias, and that each index equals the
 * table. */
static void expect_only(struct adopters *a, size_t which, size_t count)
{
    char *query = compare_table("articles", "source_id");
    for (size_t i = 0; i < ADOPTED && a->live[i] != NULL; i++) {
        char *now = generations_live(&a->w, adopted[i]);
        ck_assert_msg((strcmp(now, a->live[i]) != 0) == (i == which), "%s is %s after %s",
                      adopted[i], now, a->live[i]);
        free(a->live[i]);
        a->live[i] = now;
        expect_equal(sql_int(a->w.conn, "select count(*) from articles"), a->w.conn, query,
                     a->w.service.url, adopted[i], AUTH);
    }
    free(query);
    ck_assert_uint_eq(indices(&a->w), count);
}

/* Runs reindex with the word for each pipeline in turn; expects this number of indices after
 * each. */
static void each(struct adopters *a, const char *word, size_t count, int more)
{
    for (size_t i = 0; i < ADOPTED; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%zu", i);
        rowferry_expect(0, a->w.config, "sync", NULL);
        rowferry_expect(0, a->w.config, "reindex", name, word, NULL);
        count = (size_t)((int)count + more);
        expect_only(a, i, count);
    }
}

static void adopt_all(struct adopters *a)
{
    world_start(&a->w, 200, NULL);
    configure(&a->w, adopted, ADOPTED, 1);
    world_install(&a->w);
    for (size_t i = 0; i < ADOPTED; i++) {
        generations_do(&a->w, "PUT", "{\"a\":1}", "/%s/_doc/1?refresh=true", adopted[i]);
    }
    for (size_t i = 0; i < ADOPTED; i++) {
        char name[8];
        snprintf(name, sizeof(name), "p%zu", i);
        rowferry_expect(0, a->w.config, "reindex", "--adopt", name, NULL);
        a->live[i] = generations_live(&a->w, adopted[i]);
        for (size_t k = 0; k < ADOPTED; k++) {
            char kept[64];
            snprintf(kept, sizeof(kept), "%s-before-rowferry", adopted[k]);
            ck_assert_int_eq(index_status(&a->w, kept), k <= i ? 200 : 404);
        }
    }
    /* "shop-*": a generation and the former index of each */
    ck_assert_uint_eq(indices(&a->w), 2 * ADOPTED);
}

START_TEST(names_that_begin_alike_are_adopted_rebuilt_and_gone_back_to_each_for_itself)
{
    static struct adopters a;
    adopt_all(&a);
    sql_exec(a.w.conn, "delete from articles where source_id <= 10");
    each(&a, NULL, 2 * ADOPTED, 1); /* one is kept */
    sql_exec(a.w.conn, "delete from articles where source_id <= 20");
    each(&a, "--rollback", 3 * ADOPTED, 0);
    each(&a, NULL, 3 * ADOPTED, 0);
    configure(&a.w, adopted, ADOPTED, 0);
    each(&a, NULL, 3 * ADOPTED, -1);
    for (size_t i = 0; i < ADOPTED; i++) {
        ck_assert_int_eq(sql_int(a.w.conn,
                                 "select count(*) from rowferry.consumer where "
                                 "starts_with(name, 'p%zu/%s/')",
                                 i, a.live[i]),
                         1);
        free(a.live[i]);
    }
    world_stop(&a.w);
}
END_TEST

/* The second pipeline's alias is the name of the first one's next generation. */
START_TEST(an_alias_that_is_named_like_the_next_generation_of_another_is_passed_over)
{
    struct world w;
    char day[16];
    char taken[64];
    world_start(&w, 50, NULL);
    world_install(&w);
    char *today = sql_text(w.conn, "select to_char(now() at time zone 'UTC', 'YYYYMMDD')");
    snprintf(day, sizeof(day), "%s", today);
    snprintf(taken, sizeof(taken), "shop-%s-2", day);
    const char *const names[] = {"shop", taken};
    configure(&w, names, 2, 1);
    rowferry_expect(0, w.config, "sync", NULL);
    char *second = generations_live(&w, taken);
    for (int i = 0; i < 2; i++) {
        rowferry_expect(0, w.config, "reindex", "p0", NULL);
        char *live = generations_live(&w, "shop");
        char *other = generations_live(&w, taken);
        ck_assert_str_ne(live, second);
        ck_assert_str_eq(other, second);
        free(live);
        free(other);
    }
    rowferry_expect(0, w.config, "reindex", "p1", NULL);
    rowferry_expect(0, w.config, "reindex", "--rollback", NULL);
    rowferry_expect(0, w.config, "sync", NULL);
    free(second);
    free(today);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/similar_names", a_rebuild_leaves_the_indices_of_aliases_that_begin_alike_alone,
           all_at_once_and_some_given_up_each_keeps_to_its_own,
           names_that_begin_alike_are_adopted_rebuilt_and_gone_back_to_each_for_itself,
           an_alias_that_is_named_like_the_next_generation_of_another_is_passed_over)
