/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread writes 500 rows a second, another searches 50 times a second, while the index is
 * rebuilt three times: another type of a field, one more field, and back.
 *
 * Searches lag behind the table, so rows are counted by their fate, and these counts are exact.
 * Permanent rows are never missing. The number of rows that are only inserted never shrinks. The
 * number of rows that are only deleted never grows (no deleted row returns). A known row never
 * returns to an older value. This holds across every swap.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "stands.h"

#define TICK_MS 20
#define STAYING 200
#define REFRESH "30s"
#define KNOWN "{\"query\":{\"term\":{\"source_id\":\"1\"}}}"
#define OF(what) "{\"query\":{\"term\":{\"tags\":\"" what "\"}}}"
#define LIMITS "\"batch_operations\": 50, \"retry_budget\": \"30s\""
/* On a slow machine, more rows are deleted between two polls than the guard permits by default. */
#define MEMBERS "\"delete_guard\": {\"share\": 0.9}"
#define FIRST_PROPERTIES                                                                           \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"
#define NOTE ",\"note\":{\"type\":\"keyword\"}"

/* Changes ten rows: five updates, two inserts, two deletes, one changed key. */
static const char tick_sql[] =
    "create sequence fresh start 1000000;"
    "create function tick() returns void language sql as $$"
    "update articles set price = price + 1 where source_id = 1;"
    "update articles set title = 'title ' || nextval('fresh') where source_id in (select 2 + "
    "(random() * 190)::int from generate_series(1, 4));"
    "insert into articles (source_id, title, tags) values (nextval('fresh'), 'come', '{coming}'), "
    "(nextval('fresh'), 'pass', '{passing}');"
    "delete from articles where source_id in ((select min(source_id) from articles where tags = "
    "'{going}'), (select min(source_id) from articles where tags = '{passing}'));"
    "update articles set source_id = nextval('fresh') where source_id = (select min(source_id) "
    "from "
    "articles where tags = '{moving}');"
    "$$;"
    "update articles set price = 1, tags = case when source_id <= 200 then '{staying}'::text[] "
    "when source_id %% 10 = 1 then '{moving}' when source_id %% 10 = 2 then '{passing}' "
    "else '{going}' end;"
    "create index on articles (tags, source_id)";

struct crowd {
    struct world w;
    pthread_t writer, reader;
    atomic_bool over;
    int64_t ticks;
    int64_t searches;
    int64_t began_ms, busy_ms; /* of the threads that write and search */
    int64_t coming, going;     /* latest counts */
    double price;
    char complaint[512]; /* first problem of the reader; empty if none */
};

/* --- writing --------------------------------------------------------------------------------- */

static void *write_rows(void *argument)
{
    struct crowd *c = argument;
    PGconn *conn = sql_open(c->w.uri);
    struct deadline next = deadline_after(0);
    while (!atomic_load(&c->over)) {
        sql_exec(conn, "select tick()");
        c->ticks++;
        next.end_ms += TICK_MS; /* makes up for slow ticks */
        while (deadline_wait(&next)) {
        }
    }
    PQfinish(conn);
    return NULL;
}

/* --- searching ------------------------------------------------------------------------------- */

static void complain(struct crowd *c, const char *what, double is, double was)
{
    if (c->complaint[0] == '\0') {
        snprintf(c->complaint, sizeof(c->complaint), "search %lld: %s: %g after %g",
                 (long long)c->searches, what, is, was);
    }
}

static struct json_object *ask(struct crowd *c, const char *path, const char *query)
{
    struct reply reply;
    reply_get(&reply, "POST", c->w.service.url, path, query, AUTH);
    struct json_object *answer = reply.status == 200 ? json_tokener_parse(reply.body) : NULL;
    if (answer == NULL && c->complaint[0] == '\0') {
        snprintf(c->complaint, sizeof(c->complaint), "%s: %d %.300s", path, reply.status,
                 reply.body);
    }
    reply_release(&reply);
    return answer;
}

static void count(struct crowd *c, const char *query, const char *what, int64_t least, int64_t most,
                  int64_t *last)
{
    struct json_object *answer = ask(c, "/shop-articles/_count", query);
    if (answer != NULL) {
        int64_t is = json_object_get_int64(json_object_object_get(answer, "count"));
        if (is < least || is > most) {
            complain(c, what, (double)is, (double)(is < least ? least : most));
        }
        *last = is;
    }
    json_object_put(answer);
}

static void look_at_known(struct crowd *c)
{
    struct json_object *found = NULL;
    struct json_object *answer = ask(c, "/shop-articles/_search", KNOWN);
    if (answer == NULL) {
        return;
    }
    if (json_pointer_get(answer, "/hits/hits/0/_source/price", &found) != 0) {
        complain(c, "the known row is not found", 0, c->price);
    } else {
        double price = json_object_get_double(found);
        if (price < c->price) {
            complain(c, "the known row goes back", price, c->price);
        }
        c->price = price;
    }
    json_object_put(answer);
}

static void *search(void *argument)
{
    struct crowd *c = argument;
    int64_t staying;
    struct deadline next = deadline_after(0);
    while (!atomic_load(&c->over)) {
        switch (c->searches++ % 4) {
        case 0:
            count(c, OF("staying"), "rows that stay", STAYING, STAYING, &staying);
            break;
        case 1:
            count(c, OF("coming"), "rows that only come", c->coming, INT64_MAX, &c->coming);
            break;
        case 2:
            count(c, OF("going"), "rows that only go", 0, c->going, &c->going);
            break;
        default:
            look_at_known(c);
            break;
        }
        next.end_ms += TICK_MS;
        while (deadline_wait(&next)) {
        }
    }
    return NULL;
}

/* --- the threads ----------------------------------------------------------------------------- */

static long rows_wanted(void)
{
    const char *text = getenv("ROWFERRY_REBUILT_ROWS");
    return text != NULL ? strtol(text, NULL, 10) : 3000;
}

static void crowd_again(struct crowd *c)
{
    c->began_ms = deadline_now_ms();
    ck_assert_int_eq(pthread_create(&c->writer, NULL, write_rows, c), 0);
    ck_assert_int_eq(pthread_create(&c->reader, NULL, search, c), 0);
}

static void crowd_open(struct crowd *c)
{
    struct program_result result;
    memset(c, 0, sizeof(*c));
    world_start(&c->w, rows_wanted(), NULL);
    sql_exec(c->w.conn, tick_sql);
    sql_exec(c->w.conn, "alter table articles add column note text");
    c->w.members = MEMBERS;
    c->w.to = "\"settings\": {\"index\": {\"gc_deletes\": \"1s\", \"refresh_interval\": \"" REFRESH
              "\"}}";
    world_configure(&c->w, FIRST_PROPERTIES, LIMITS);
    world_install(&c->w);
    world_sync(&c->w, 0, &result);
    program_result_release(&result);
    world_fault(&c->w, "{\"path\":\"/_bulk\",\"delay_ms\":60,\"count\":100000000}");
    c->going = INT64_MAX;
    crowd_again(c);
}

/* Stops the threads and expects an equal index. */
static void crowd_rest(struct crowd *c)
{
    atomic_store(&c->over, true);
    pthread_join(c->writer, NULL);
    pthread_join(c->reader, NULL);
    atomic_store(&c->over, false);
    c->busy_ms += deadline_now_ms() - c->began_ms;
    ck_assert_msg(c->complaint[0] == '\0', "%s", c->complaint);
}

/* --- rebuilds -------------------------------------------------------------------------------- */

static void start_follower(struct crowd *c, struct program *agent)
{
    rowferry_start(agent, c->w.config, "run", NULL);
    program_await(agent, "event=sync_started", WAIT_MS); /* its backlog may never be empty */
}

static void end_follower(struct program *agent)
{
    struct program_result result;
    program_signal(agent, SIGTERM);
    finish(agent, 0, &result);
    program_result_release(&result);
}

/* Sets a shorter refresh interval on the live index than the next one will have. A search then
 * notices at once if the next one is behind. */
static void show_changes(struct crowd *c, const char *index, const char *interval)
{
    char body[64];
    snprintf(body, sizeof(body), "{\"index\":{\"refresh_interval\":\"%s\"}}", interval);
    generations_do(&c->w, "PUT", body, "/%s/_settings", index);
}

/* Stops the threads. Expects an equal index with the configured settings. */
static void expect_rebuilt(struct crowd *c, const char *former)
{
    struct program_result result;
    crowd_rest(c);
    world_sync(&c->w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&c->w);
    show_changes(c, former, REFRESH);
    generations_expect(&c->w, 2, REFRESH, NULL);
    crowd_again(c);
}

/* Changes the configuration and rebuilds the index, beside a run or without one. */
static void rebuild(struct crowd *c, bool beside_run, const char *properties, const char *word)
{
    struct program agent;
    struct program_result result;
    int64_t ticks = c->ticks;
    char *former = generations_live(&c->w, "shop-articles");
    show_changes(c, former, "50ms");
    world_configure(&c->w, properties, LIMITS);
    if (beside_run) {
        start_follower(c, &agent);
    }
    reindex(&c->w, 0, &result, word, "--no-progress");
    program_result_release(&result);
    ck_assert_int_gt(c->ticks, ticks);
    if (beside_run) {
        end_follower(&agent);
    }
    expect_rebuilt(c, former);
    free(former);
}

/* Changes a type in the configuration while a run follows. The run keeps its configuration, with
 * HUP too. After a restart it does the rebuild itself and follows. */
static void rebuild_by_run(struct crowd *c, const char *properties)
{
    struct program agent;
    char *former = generations_live(&c->w, "shop-articles");
    show_changes(c, former, "50ms");
    start_follower(c, &agent);
    c->w.members = MEMBERS ", \"on_schema_change\": \"rebuild\"";
    world_configure(&c->w, properties, LIMITS);
    program_signal(&agent, SIGHUP);
    program_await(&agent, "event=needs_restart", WAIT_MS);
    expect_alias(&c->w, former);
    end_follower(&agent);
    int64_t ticks = c->ticks;
    rowferry_start(&agent, c->w.config, "run", NULL);
    program_await(&agent, "event=rebuilt pipeline=articles", 120000);
    ck_assert_int_gt(c->ticks, ticks);
    end_follower(&agent);
    expect_rebuilt(c, former);
    free(former);
}

static void crowd_leave(struct crowd *c, const char *where)
{
    crowd_rest(c);
    printf("%s: %.1f searches/s, %.0f rows changed/s, %lld searches and %lld rows in all\n", where,
           (double)c->searches * 1000 / (double)c->busy_ms,
           (double)c->ticks * 10000 / (double)c->busy_ms, (long long)c->searches,
           (long long)c->ticks * 10);
    ck_assert_int_gt(c->coming, 0);
    ck_assert_int_lt(c->going, INT64_MAX);
    ck_assert(c->price > 1);
    world_stop(&c->w);
}

START_TEST(nobody_who_searches_notices_three_rebuilds_in_a_row)
{
    static struct crowd c;
    crowd_open(&c);
    rebuild(&c, false, OTHER_PROPERTIES, NULL); /* another type of a field */
    rebuild(&c, false, FIRST_PROPERTIES, "--rollback");
    rebuild(&c, false, FIRST_PROPERTIES NOTE, NULL);
    crowd_leave(&c, "alone");
}
END_TEST

/* A run builds from the configuration it was started with, so it is restarted with another one. */
START_TEST(nobody_who_searches_notices_three_rebuilds_beside_a_run)
{
    static struct crowd c;
    crowd_open(&c);
    rebuild_by_run(&c, OTHER_PROPERTIES);
    rebuild(&c, true, OTHER_PROPERTIES NOTE, NULL);
    rebuild(&c, true, OTHER_PROPERTIES NOTE, "--rollback");
    crowd_leave(&c, "beside run");
}
END_TEST

SUITE_MAIN("reindex/searches", nobody_who_searches_notices_three_rebuilds_in_a_row,
           nobody_who_searches_notices_three_rebuilds_beside_a_run)
