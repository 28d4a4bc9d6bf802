/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random kills under load and with faults: $ROWFERRY_KILLS (20), and the index is equal after each.
 *
 * A kill counts if it provably hit with unsettled operations after the process had met a fault. The
 * process is stopped, then examined, then killed. Unsettled means that a bulk request has no
 * answer, or that an answer came after the last write of the state file. Other kills are reported
 * and repeated.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compare.h"
#include "crash.h"
#include "http.h"
#include "sql.h"
#include "storm.h"
#include "wait.h"

#define ROWS 400
#define KILLS_PER_WORLD 100
#define IN_A_ROW 8   /* kills before everything is compared */
#define LATEST_MS 60 /* after the first fault */
#define REFUSED_ITEMS 6
#define LIMITS                                                                                     \
    "\"batch_operations\": 20, \"in_flight\": 4, \"readers\": 1, \"retry_budget\": \"60s\""

static const char load_sql[] =
    "create sequence titles;"
    "create procedure load() language plpgsql as $$"
    "declare id bigint; begin loop"
    "  for i in 1..6 loop"
    "    id := 1 + floor(random() * %d);"
    "    if random() < 0.15 then delete from articles where source_id = id;"
    "    elsif random() < 0.1 then update articles set source_id = id + %d where source_id = id"
    "      and not exists (select from articles where source_id = id + %d);"
    "    elsif random() < 0.1 then delete from articles where source_id = id + %d;"
    "    else insert into articles (source_id, title) values (id, 'load ' || nextval('titles'))"
    "      on conflict (source_id) do update set title = excluded.title; end if;"
    "  end loop;"
    "  if random() < 0.1 then update articles set title = 'many ' || nextval('titles')"
    "    where source_id %% 7 = id %% 7; end if;"
    "  commit; perform pg_sleep(0.003); end loop; end $$";

/* --- results --------------------------------------------------------------------------------- */

struct sums {
    int64_t kills; /* kills that count */
    int64_t unanswered;
    int64_t unrecorded; /* answered, but not recorded in the state file */
    int64_t not_counted;
    int64_t ended; /* ended before the kill */
    int64_t comparisons;
    int64_t differences;
    int64_t met[STORM_CLASSES];
    int64_t items; /* kills with single operations refused by the service */
};

static void tell(const struct sums *s)
{
    printf("storm: %lld kills, %lld with unsettled operations (%lld unanswered, %lld answered and "
           "not in the state file), each after a fault; %lld more do not count, %lld ended before; "
           "%lld "
           "comparisons, %lld differences\nstorm: kills after:",
           (long long)s->kills, (long long)(s->unanswered + s->unrecorded),
           (long long)s->unanswered, (long long)s->unrecorded, (long long)s->not_counted,
           (long long)s->ended, (long long)s->comparisons, (long long)s->differences);
    for (size_t i = 0; i < STORM_CLASSES; i++) {
        printf(" %s %lld,", storm_names[i], (long long)s->met[i]);
    }
    printf(" operations refused %lld\n", (long long)s->items);
    fflush(stdout);
}

/* --- the world ------------------------------------------------------------------------------- */

struct scene {
    struct world w;
    struct storm *storm;
    PGconn *load;
    char *query;
    bool items; /* the service was asked to refuse operations */
    int64_t refused_before;
};

static void configure(struct scene *s, int port)
{
    char direct[sizeof(s->w.service.url)];
    memcpy(direct, s->w.service.url, sizeof(direct));
    snprintf(s->w.service.url, sizeof(s->w.service.url), "http://127.0.0.1:%d", port);
    world_configure(&s->w, CRASH_PROPERTIES, LIMITS);
    memcpy(s->w.service.url, direct, sizeof(direct));
}

static void scene_start(struct scene *s)
{
    *s = (struct scene){.query = compare_table("articles", "source_id")};
    world_start(&s->w, ROWS, NULL);
    s->w.members = "\"delete_guard\": {\"count\": 1000000}";
    sql_exec(s->w.conn, load_sql, ROWS, ROWS, ROWS, ROWS);
    s->storm = storm_new(s->w.service.port);
    configure(s, storm_calm(s->storm));
    world_install(&s->w);
    s->load = sql_open(s->w.uri);
}

static void scene_stop(struct scene *s)
{
    storm_free(s->storm);
    PQfinish(s->load);
    free(s->query);
    world_stop(&s->w);
}

static void load_begin(struct scene *s)
{
    ck_assert_int_eq(PQsendQuery(s->load, "call load()"), 1);
}

static void load_end(struct scene *s)
{
    char reason[256];
    PGcancel *cancel = PQgetCancel(s->load);
    ck_assert_msg(PQcancel(cancel, reason, sizeof(reason)) == 1, "%s", reason);
    PQfreeCancel(cancel);
    for (PGresult *r = PQgetResult(s->load); r != NULL; r = PQgetResult(s->load)) {
        const char *code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
        ck_assert_msg(code != NULL && strcmp(code, "57014") == 0, "%s", PQresultErrorMessage(r));
        PQclear(r);
    }
}

/* --- one kill -------------------------------------------------------------------------------- */

/* Hash of the state file, and number of requests when it was read. */
struct view {
    uint64_t state;
    size_t bulks;
};

static uint64_t hash_of_state(const struct scene *s)
{
    unsigned char bytes[65536];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char *path = scratch_path(s->w.dir, "state.db");
    FILE *file = fopen(path, "re");
    for (size_t n = 0; file != NULL && (n = fread(bytes, 1, sizeof(bytes), file)) > 0;) {
        for (size_t i = 0; i < n; i++) {
            hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    free(path);
    return hash;
}

static void look(const struct scene *s, struct view *v)
{
    uint64_t state = hash_of_state(s);
    if (state != v->state) {
        v->state = state;
        v->bulks = storm_bulks(s->storm);
    }
}

/* Returns false if the program has ended. */
static bool stand_still(const struct program *p)
{
    siginfo_t info = {0};
    program_signal(p, SIGSTOP);
    ck_assert_int_eq(waitid(P_PID, (id_t)p->pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
    return info.si_code == CLD_STOPPED;
}

/* Returns the number of operations that the service refused. */
static int64_t refused(const struct scene *s)
{
    struct json_object *stats = reply_json(200, "GET", s->w.service.url, "/_devsearch/stats", NULL,
                                           "ApiKey " WORLD_API_KEY);
    int64_t fired = json_object_get_int64(json_object_object_get(stats, "faults_fired"));
    json_object_put(stats);
    return fired;
}

static bool items_were_refused(const struct scene *s)
{
    return s->items && refused(s) > s->refused_before;
}

/* Counts the kill of a stopped process. */
static void count_kill(const struct scene *s, const struct view *v, struct sums *sums)
{
    bool unanswered = storm_unanswered(s->storm) > 0;
    bool unrecorded = hash_of_state(s) == v->state && storm_bulks(s->storm) > v->bulks;
    unsigned met = storm_met(s->storm);
    bool items = items_were_refused(s);
    if ((!unanswered && !unrecorded) || (met == 0 && !items)) {
        sums->not_counted++;
        return;
    }
    sums->kills++;
    sums->unanswered += unanswered;
    sums->unrecorded += !unanswered;
    sums->items += items;
    for (size_t i = 0; i < STORM_CLASSES; i++) {
        sums->met[i] += (met >> i & 1U) != 0;
    }
}

/* Sometimes lets the service refuse operations. Then no older request may be left that could meet
 * this. */
static void prepare(struct scene *s)
{
    s->items = crash_dice(4) == 0;
    if (s->items) {
        char fault[64];
        storm_calm(s->storm);
        snprintf(fault, sizeof(fault), "{\"items_status\":429,\"every\":3,\"count\":%d}",
                 REFUSED_ITEMS);
        s->refused_before = refused(s);
        world_fault(&s->w, fault);
    }
    configure(s, storm_next(s->storm));
}

/* Waits until the program has met a fault, and a moment longer. Returns false if it ends before. */
static bool await_moment(const struct scene *s, const struct program *p, struct view *v)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (program_running(p) && storm_met(s->storm) == 0) {
        look(s, v);
        ck_assert_msg(deadline_wait(&deadline), "no fault has met it: %s", program_said(p));
    }
    deadline = deadline_after(crash_dice(LATEST_MS));
    do {
        look(s, v);
    } while (program_running(p) && deadline_wait(&deadline));
    return program_running(p);
}

static void kill_one(struct scene *s, struct sums *sums)
{
    struct program p;
    struct program_result result;
    struct view view = {0};
    prepare(s);
    rowferry_start(&p, s->w.config, crash_dice(2) == 0 ? "run" : "sync", NULL);
    bool stands = await_moment(s, &p, &view) && stand_still(&p);
    if (stands) {
        count_kill(s, &view, sums);
        program_signal(&p, SIGKILL);
    }
    program_finish(&p, WAIT_MS, &result);
    if (result.exit_code != 128 + SIGKILL) {
        ck_assert_msg(result.exit_code == 0, "it ended with %d: %s", result.exit_code, result.err);
        sums->ended++;
    }
    program_result_release(&result);
    if (s->items) {
        world_unfault(&s->w);
    }
}

/* --- all kills ------------------------------------------------------------------------------- */

static void expect_equal_in_calm(struct scene *s, struct sums *sums)
{
    struct program_result result;
    struct comparison c;
    configure(s, storm_calm(s->storm));
    world_sync(&s->w, 0, &result);
    program_result_release(&result);
    compare(&c, s->w.conn, s->query, s->w.service.url, "shop-articles", "ApiKey " WORLD_API_KEY);
    sums->comparisons++;
    sums->differences += c.differences;
    ck_assert_msg(c.differences == 0,
                  "after %lld kills %lld of %lld rows and %lld documents "
                  "differ: %s",
                  (long long)sums->kills, (long long)c.differences, (long long)c.rows,
                  (long long)c.documents, c.first);
    free(c.first);
}

static void kill_in_a_world(int64_t wanted, struct sums *sums)
{
    struct scene s;
    scene_start(&s);
    while (sums->kills < wanted) {
        int64_t in_a_row = 1 + crash_dice(IN_A_ROW);
        load_begin(&s);
        for (int64_t i = 0; i < in_a_row && sums->kills < wanted; i++) {
            kill_one(&s, sums);
        }
        load_end(&s);
        expect_equal_in_calm(&s, sums);
    }
    scene_stop(&s);
}

START_TEST(whatever_is_killed_among_faults_the_index_is_equal_in_the_end)
{
    struct sums sums = {0};
    int64_t wanted = crash_setting("ROWFERRY_KILLS", 20);
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 1); /* a kill does not depend on the disk */
    }
    while (sums.kills < wanted) {
        int64_t next = sums.kills + KILLS_PER_WORLD;
        kill_in_a_world(next < wanted ? next : wanted, &sums);
        printf("  %lld kills so far\n", (long long)sums.kills);
        fflush(stdout);
    }
    tell(&sums);
}
END_TEST

CRASH_LONG_MAIN("crash/storm", whatever_is_killed_among_faults_the_index_is_equal_in_the_end)
