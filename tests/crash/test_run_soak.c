/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run with faults: $ROWFERRY_RUN_SOAK_S (30) of changes, with a fault every five seconds.
 *
 * Two agents follow the table, each into an index of its own. One of them is killed as one of the
 * faults. The other runs to the end, and its memory, descriptors and log are checked.
 */
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "compare.h"
#include "crash.h"
#include "http.h"
#include "proxy.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define ROWS 2000
#define TICK_MS 20
#define CHANGES_A_TICK 10 /* 500 a second */
#define FAULT_MS 5000
#define DOWN_MS 700
#define QUIET_MS 300000 /* a slow machine has a large backlog */
#define MOST_KIB (32 * 1024)
#define GROWTH_KIB (3 * 1024) /* from the first third to the last */
#define MOST_DESCRIPTORS 64
#define DESCRIPTORS_GROWTH 8
#define MOST_LINES 12 /* log lines for one fault */
#define SAMPLES_MAX 4096

enum fault_class { SERVICE_KILLED, POSTGRES_CRASHED, STORM_OF_429, CUT, AGENT_KILLED, CLASSES };

static const char *const class_names[CLASSES] = {
    [SERVICE_KILLED] = "service killed", [POSTGRES_CRASHED] = "postgres crashed",
    [STORM_OF_429] = "storm of 429",     [CUT] = "requests cut",
    [AGENT_KILLED] = "agent killed",
};

struct soak {
    struct world w;
    struct program agent;  /* is killed from time to time */
    struct program steady; /* runs to the end */
    char *steady_config;
    struct proxy *proxy;
    char *data;
    char *key;
    atomic_int cuts_left;
    atomic_int cuts;
    int64_t refused_before; /* requests before the last storm */
    int64_t changes;
    int64_t hits[CLASSES];
    enum fault_class bag[CLASSES]; /* each once in random order, then refilled */
    size_t bag_count;
    enum fault_class last;        /* the last fault; CLASSES: none yet */
    int64_t lines;                /* log lines of the steady agent so far */
    int64_t lines_most;           /* maximum after one fault */
    enum fault_class lines_class; /* the fault with that maximum */
    size_t samples;               /* of the steady agent, one before each fault */
    long rss_kib[SAMPLES_MAX];
    long fds[SAMPLES_MAX];
};

static struct cluster cluster;

/* --- faults ---------------------------------------------------------------------------------- */

static void decide(void *context, const struct proxy_request *request, struct proxy_fault *fault)
{
    struct soak *s = context;
    if (request->bulk && atomic_load(&s->cuts_left) > 0) {
        int n = atomic_fetch_sub(&s->cuts_left, 1);
        atomic_fetch_add(&s->cuts, 1);
        fault->reset = true;
        if (n % 2 == 0) {
            fault->cut_request = request->head_len + request->body_len / 2;
            fault->withheld = true;
        } else {
            fault->cut_answer = 20;
        }
    }
}

static int64_t faults_fired(const struct soak *s)
{
    struct json_object *stats = reply_json(200, "GET", s->w.service.url, "/_devsearch/stats", NULL,
                                           "ApiKey " WORLD_API_KEY);
    int64_t fired = json_object_get_int64(json_object_object_get(stats, "faults_fired"));
    json_object_put(stats);
    return fired;
}

static void pause_ms(int64_t ms)
{
    struct deadline end = deadline_after(ms);
    while (deadline_wait(&end)) {
    }
}

static void start_agent(struct soak *s)
{
    rowferry_start(&s->agent, s->w.config, "run", NULL);
}

static void kill_service(struct soak *s)
{
    int port = s->w.service.port;
    crash_kill_program(&s->w.service.program);
    pause_ms(DOWN_MS);
    devsearch_start_at(
        &s->w.service, port,
        (const char *const[]){"--api-key-file", s->key, "--data", s->data, "--faults", NULL});
    s->hits[SERVICE_KILLED]++;
}

/* Commits synchronously, because a crash must keep answered commits or the index would be ahead. */
static void open_writer(struct soak *s)
{
    s->w.conn = sql_open(s->w.uri);
    sql_exec(s->w.conn, "set synchronous_commit = on");
}

static void crash_postgres(struct soak *s)
{
    cluster_kill(&cluster, SIGQUIT);
    pause_ms(DOWN_MS);
    cluster_again(&cluster);
    s->hits[POSTGRES_CRASHED] += PQstatus(s->w.conn) != CONNECTION_OK ||
                                 PQresultStatus(PQexec(s->w.conn, "select 1")) != PGRES_TUPLES_OK;
    PQfinish(s->w.conn);
    open_writer(s);
}

static enum fault_class draw(struct soak *s)
{
    if (s->bag_count == 0) {
        for (; s->bag_count < CLASSES; s->bag_count++) {
            s->bag[s->bag_count] = (enum fault_class)s->bag_count;
        }
    }
    size_t at = (size_t)crash_dice((int64_t)s->bag_count);
    enum fault_class drawn = s->bag[at];
    s->bag[at] = s->bag[--s->bag_count];
    return drawn;
}

static void break_something(struct soak *s)
{
    s->last = draw(s);
    switch (s->last) {
    case SERVICE_KILLED:
        kill_service(s);
        break;
    case POSTGRES_CRASHED:
        crash_postgres(s);
        break;
    case STORM_OF_429:
        s->refused_before = faults_fired(s);
        world_fault(&s->w, "{\"status\":429,\"count\":10}");
        break;
    case CUT:
        atomic_store(&s->cuts, 0);
        atomic_store(&s->cuts_left, 6);
        proxy_down(s->proxy);
        pause_ms(DOWN_MS);
        proxy_up(s->proxy);
        break;
    case AGENT_KILLED:
    case CLASSES:
    default:
        crash_kill_program(&s->agent);
        start_agent(s);
        s->hits[AGENT_KILLED]++;
        break;
    }
}

/* --- resources ------------------------------------------------------------------------------- */

static long resident_kib(pid_t pid)
{
    char path[64];
    char line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && kib == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmRSS:", 6) == 0) {
            kib = strtol(line + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

static int descriptors(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    while (dir != NULL && readdir(dir) != NULL) {
        count++;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return count;
}

static int64_t log_lines(const struct soak *s)
{
    int64_t count = 0;
    char *said = program_said(&s->steady);
    for (const char *at = said; (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    free(said);
    return count;
}

/* Called before each fault, five seconds after the last one. */
static void measure(struct soak *s)
{
    long kib = resident_kib(s->steady.pid);
    int fds = descriptors(s->steady.pid);
    int64_t lines = log_lines(s);
    ck_assert_msg(kib > 0 && fds > 0, "the steady agent is gone");
    if (s->samples < SAMPLES_MAX) {
        s->rss_kib[s->samples] = kib;
        s->fds[s->samples] = fds;
        s->samples++;
    }
    if (lines - s->lines > s->lines_most) {
        s->lines_most = lines - s->lines;
        s->lines_class = s->last;
    }
    s->lines = lines;
}

static int by_size(const void *a, const void *b)
{
    long x = *(const long *)a;
    long y = *(const long *)b;
    return (x > y) - (x < y);
}

static long median(const long *values, size_t count)
{
    long sorted[SAMPLES_MAX];
    memcpy(sorted, values, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), by_size);
    return sorted[count / 2];
}

static long most(const long *values, size_t count)
{
    long found = 0;
    for (size_t i = 0; i < count; i++) {
        found = values[i] > found ? values[i] : found;
    }
    return found;
}

/* Returns the growth from the median of the first third to that of the last. */
static long growth(const long *values, size_t count)
{
    size_t third = count / 3;
    return third == 0 ? 0 : median(values + count - third, third) - median(values, third);
}

/* --- the soak -------------------------------------------------------------------------------- */

/* One transaction per tick; one change in ten is a delete. */
static void change(struct soak *s)
{
    char text[CHANGES_A_TICK * 192];
    size_t len = 0;
    for (int i = 0; i < CHANGES_A_TICK; i++) {
        long long id = 1 + crash_dice(ROWS);
        const char *form = "insert into articles (source_id, title) values (%lld, 'change %lld') "
                           "on conflict (source_id) do update set title = excluded.title;";
        if (crash_dice(10) == 0) {
            form = "delete from articles where source_id = %lld; -- %lld\n";
        }
        int wrote = snprintf(text + len, sizeof(text) - len, form, id, (long long)s->changes++);
        ck_assert(wrote > 0 && (size_t)wrote < sizeof(text) - len);
        len += (size_t)wrote;
    }
    sql_exec(s->w.conn, "%s", text);
}

/* Configures the same table with another index and its own state file. */
static char *steady_config(const struct soak *s)
{
    static const char *const words[][2] = {{"\"name\": \"articles\"", "\"name\": \"steady\""},
                                           {"shop-articles", "shop-steady"},
                                           {"state.db", "steady.db"}};
    char text[8192];
    FILE *file = fopen(s->w.config, "re");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        char changed[sizeof(text)];
        const char *at = strstr(text, words[i][0]);
        ck_assert_ptr_nonnull(at);
        snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, words[i][1],
                 at + strlen(words[i][0]));
        memcpy(text, changed, sizeof(text));
    }
    return scratch_write(s->w.dir, "steady.json", text);
}

static void set_up(struct soak *s)
{
    char direct[sizeof(s->w.service.url)];
    s->data = scratch_new();
    world_start(&s->w, ROWS, (const char *const[]){"--data", s->data, NULL});
    s->key = scratch_path(s->w.dir, "key");
    s->proxy = proxy_start(s->w.service.port, decide, s);
    memcpy(direct, s->w.service.url, sizeof(direct));
    snprintf(s->w.service.url, sizeof(s->w.service.url), "http://127.0.0.1:%d",
             proxy_port(s->proxy));
    world_configure(&s->w, CRASH_PROPERTIES, "\"request_timeout\": \"5s\"");
    memcpy(s->w.service.url, direct, sizeof(direct));
    world_install(&s->w);
    PQfinish(s->w.conn);
    open_writer(s);
    s->steady_config = steady_config(s);
    rowferry_start(&s->steady, s->steady_config, "run", NULL);
    program_await(&s->steady, "event=following", WAIT_MS);
    start_agent(s);
    program_await(&s->agent, "event=following", WAIT_MS);
    s->lines = log_lines(s);
}

/* Returns true if requests met the last fault. */
static bool has_hit(const struct soak *s)
{
    return s->last == STORM_OF_429 ? faults_fired(s) > s->refused_before
           : s->last == CUT        ? atomic_load(&s->cuts) > 0
                                   : true;
}

/* Ends the last fault. */
static void end_fault(struct soak *s)
{
    s->hits[STORM_OF_429] += s->last == STORM_OF_429;
    s->hits[CUT] += s->last == CUT;
    measure(s);
}

/* Runs until the time is over and each class has occurred equally often. */
static void soak(struct soak *s, int64_t ms)
{
    int64_t begin_ms = deadline_now_ms();
    struct deadline end = deadline_after(ms);
    struct deadline fault = deadline_after(FAULT_MS);
    for (;;) {
        struct deadline tick = deadline_after(TICK_MS);
        do { /* catch up on changes that were not possible while a server was down */
            change(s);
        } while (s->changes < (deadline_now_ms() - begin_ms) / TICK_MS * CHANGES_A_TICK &&
                 deadline_now_ms() < fault.end_ms);
        if (deadline_now_ms() >= fault.end_ms && has_hit(s)) {
            end_fault(s);
            if (s->last != CLASSES && s->bag_count == 0 && deadline_now_ms() >= end.end_ms) {
                return;
            }
            break_something(s);
            fault = deadline_after(FAULT_MS);
        }
        ck_assert_msg(deadline_now_ms() < fault.end_ms + WAIT_MS, "no hit: %d", (int)s->last);
        while (deadline_wait(&tick)) {
        }
    }
}

static bool has_marker(const struct soak *s, const char *index)
{
    char path[64];
    struct reply reply;
    snprintf(path, sizeof(path), "/%s/_doc/999999", index);
    reply_get(&reply, "GET", s->w.service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    bool has = reply.status == 200;
    reply_release(&reply);
    return has;
}

static void end_agent(struct program *agent)
{
    struct program_result result;
    program_signal(agent, SIGTERM);
    program_finish(agent, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
}

static void never_arrived(const struct soak *s)
{
    printf("agent: %s\nsteady: %s\n", program_said(&s->agent), program_said(&s->steady));
    ck_abort_msg("what was changed last never arrived");
}

static void expect_equal_after_quiet(struct soak *s)
{
    struct deadline quiet = deadline_after(QUIET_MS);
    sql_exec(s->w.conn, "insert into articles (source_id, title) values (999999, 'marker')");
    while (!has_marker(s, "shop-articles") || !has_marker(s, "shop-steady")) {
        if (!deadline_wait(&quiet)) {
            never_arrived(s);
        }
    }
    end_agent(&s->agent);
    end_agent(&s->steady);
    world_expect_equal(&s->w);
    char *query = compare_table("articles", "source_id");
    expect_equal(sql_int(s->w.conn, "select count(*) from articles"), s->w.conn, query,
                 s->w.service.url, "shop-steady", "ApiKey " WORLD_API_KEY);
    free(query);
}

static void tell(const struct soak *s)
{
    printf("soak of run: %lld changes; of the agent that lived through it: resident %ld KiB at "
           "most, grown by %ld; %ld descriptors at most, grown by %ld; %lld lines of log, %lld at "
           "most for one fault (%s)\n",
           (long long)s->changes, most(s->rss_kib, s->samples), growth(s->rss_kib, s->samples),
           most(s->fds, s->samples), growth(s->fds, s->samples), (long long)s->lines,
           (long long)s->lines_most, class_names[s->lines_class]);
    for (size_t i = 0; i < CLASSES; i++) {
        crash_tell_hits(class_names[i], s->hits[i], "times");
    }
}

START_TEST(it_is_equal_after_everything_broke)
{
    static struct soak s;
    s.last = CLASSES;
    set_up(&s);
    soak(&s, crash_setting("ROWFERRY_RUN_SOAK_S", 30) * 1000);
    tell(&s);
    expect_equal_after_quiet(&s);
    ck_assert_int_le(most(s.rss_kib, s.samples), MOST_KIB);
    ck_assert_int_le(growth(s.rss_kib, s.samples), GROWTH_KIB);
    ck_assert_int_le(most(s.fds, s.samples), MOST_DESCRIPTORS);
    ck_assert_int_le(growth(s.fds, s.samples), DESCRIPTORS_GROWTH);
    ck_assert_int_le(s.lines_most, MOST_LINES);
    proxy_stop(s.proxy);
    free(s.key);
    free(s.steady_config);
    world_stop(&s.w);
    scratch_remove(s.data);
}
END_TEST

/* An unchecked fixture starts the server, so that it outlives a failed test. */
static void start_server(void)
{
    cluster_start(&cluster, NULL);
    cluster_use(&cluster);
}

static void stop_server(void)
{
    cluster_stop(&cluster);
}

int main(void)
{
    Suite *suite = suite_create("crash/run_soak");
    TCase *tcase = tcase_create("run_soak");
    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, start_server, stop_server);
    tcase_add_test(tcase, it_is_equal_after_everything_broke);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
