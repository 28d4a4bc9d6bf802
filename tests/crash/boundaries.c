/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the calls of a workload, breaks them one by one, and counts the results. */
#include "boundaries.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rowferry/base/text.h"
#include "sql.h"

#define ROWS 40
#define PATH_BYTES 4096
#define NAME_BYTES 24
#define FUNCTIONS 48
#define TRIES 3
#define CALLS_TO_JUDGE 20
#define END_MS 60000 /* usually takes a second or two */
#define EXIT_HELD 5

const struct fault boundary_kill = {.action = "kill", .class = "boundary"};
const struct fault boundary_torn = {
    .action = "torn", .class = "boundary", .functions = " write pwrite send ", .sparse = 4};
const struct fault boundary_full = {.action = "full",
                                    .class = "boundary",
                                    .functions = " write pwrite ",
                                    .error = ENOSPC,
                                    .sparse = 4};

/* --- the stage ------------------------------------------------------------------------------- */

void stage_start(struct stage *s)
{
    *s = (struct stage){0};
    if (access("/dev/shm", W_OK) == 0) {
        setenv("TMPDIR", "/dev/shm", 1); /* many kills, and a kill does not depend on the disk */
    }
    world_start(&s->w, ROWS, NULL);
    world_configure(&s->w, CRASH_PROPERTIES, STAGE_LIMITS);
    world_install(&s->w);
    sql_exec(s->w.conn, "create sequence fresh start 10000");
    s->elsewhere = world_config_of_another(&s->w);
    /* memory kept by the loader; boundary.c hides the caller by which the leak sanitizer knows
     * it */
    free(scratch_write(s->w.dir, "loader", "leak:_dl_\n"));
}

void stage_stop(struct stage *s)
{
    free(s->elsewhere);
    world_stop(&s->w);
}

void stage_change(struct stage *s)
{
    int n = ++s->n;
    sql_exec(s->w.conn,
             "update articles set title = 'change %d' where source_id %% 4 = %d;"
             "update articles set source_id = nextval('fresh') where source_id = (select "
             "max(source_id) from articles);"
             "delete from articles where source_id in (select source_id from articles order by 1 "
             "limit 2);"
             "insert into articles (source_id, title) select nextval('fresh'), 'new' from "
             "generate_series(1, 2)",
             n, n % 4);
}

void stage_sync(struct stage *s, int exit_code)
{
    struct program_result result;
    world_sync(&s->w, exit_code, &result);
    program_result_release(&result);
}

void stage_sync_elsewhere(struct stage *s)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct program_result result = {.exit_code = EXIT_HELD};
    while (result.exit_code == EXIT_HELD) {
        ck_assert(deadline_wait(&deadline));
        program_result_release(&result);
        rowferry_run(&result, s->elsewhere, "sync", "--json", NULL);
    }
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
}

/* --- calls ----------------------------------------------------------------------------------- */

struct call {
    char site[20];
    char function[NAME_BYTES];
    char text[192];
    long number;
};

struct calls {
    struct call *items;
    size_t count;
    size_t sites;
};

/* For each function: number of calls to break, and number broken. */
struct tally {
    struct {
        char name[NAME_BYTES];
        int64_t calls;
        int64_t hits;
    } functions[FUNCTIONS];
    size_t count;
    int64_t hits;
    int64_t missed;
    int64_t theirs; /* faults of a library */
    int64_t wrong;
};

static size_t tally_of(struct tally *t, const char *function)
{
    size_t i = 0;
    while (i < t->count && strcmp(t->functions[i].name, function) != 0) {
        i++;
    }
    if (i == t->count) {
        ck_assert_uint_lt(i, FUNCTIONS);
        snprintf(t->functions[t->count++].name, NAME_BYTES, "%s", function);
    }
    return i;
}

/* File in which boundary.c records the call that it broke. */
static char *marker(const struct stage *s)
{
    return scratch_path(s->w.dir, "calls");
}

static bool is_marked(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_size > 0;
}

/* Returns false if the program had to be killed. */
static bool run(struct stage *s, const struct workload *work, const char *setting,
                int64_t deadline_ms, struct program_result *result)
{
    struct program program;
    const char *argv[10] = {getenv("ROWFERRY_PROGRAM"), "-c",
                            work->elsewhere ? s->elsewhere : s->w.config};
    char suppressed[PATH_BYTES];
    const char *const env[] = {setting, "LD_PRELOAD=" TEST_BOUNDARY,
                               "ASAN_OPTIONS=verify_asan_link_order=0", suppressed, NULL};
    snprintf(suppressed, sizeof(suppressed),
             "LSAN_OPTIONS=print_suppressions=0:suppressions=%s/loader", s->w.dir);
    for (size_t i = 0; work->words[i] != NULL; i++) {
        argv[3 + i] = work->words[i];
    }
    program_start(&program, argv, env);
    if (work->meanwhile != NULL) {
        work->meanwhile(s, &program);
    }
    return program_ends(&program, deadline_ms, result);
}

static void add_call(struct calls *calls, const char *line)
{
    struct call call = {.number = 1};
    if (sscanf(line, "%19s %23s", call.site, call.function) != 2 || strcmp(call.site, "by") == 0) {
        return;
    }
    snprintf(call.text, sizeof(call.text), "%.*s", (int)strcspn(line, "\n"), line);
    for (size_t i = calls->count; i > 0; i--) {
        if (strcmp(calls->items[i - 1].site, call.site) == 0) {
            call.number = calls->items[i - 1].number + 1;
            break;
        }
    }
    calls->sites += call.number == 1;
    calls->items = mem_grow(calls->items, calls->count + 1, sizeof(call));
    calls->items[calls->count++] = call;
}

/* Appends the program's places on the way to the calls to the file in $ROWFERRY_PLACES. */
static void keep_places(FILE *log)
{
    char line[256];
    const char *path = getenv("ROWFERRY_PLACES");
    FILE *places = path != NULL ? fopen(path, "ae") : NULL;
    while (places != NULL && fgets(line, sizeof(line), log) != NULL) {
        if (strncmp(line, "by ", 3) == 0) {
            fputs(line, places);
        }
    }
    if (places != NULL) {
        fclose(places);
    }
    rewind(log);
}

static void run_whole(struct stage *s, const struct workload *work, const char *setting)
{
    struct program_result result;
    work->prepare(s);
    ck_assert_msg(run(s, work, setting, RUN_MS, &result), "no end: %s", result.err);
    ck_assert_msg(result.exit_code == work->exit_code, "%s: exit code %d: %s", work->name,
                  result.exit_code, result.err);
    program_result_release(&result);
    work->recover(s);
}

static void list(struct stage *s, const struct workload *work, const struct fault *fault,
                 struct calls *calls)
{
    char setting[PATH_BYTES];
    char line[256];
    char *path = marker(s);
    *calls = (struct calls){0};
    run_whole(s, work, "ROWFERRY_TEST_BOUNDARY="); /* calls that only the very first run makes */
    snprintf(setting, sizeof(setting), "ROWFERRY_TEST_BOUNDARY=count %s %s 0 0 %d", fault->class,
             path, fault->error);
    run_whole(s, work, setting);
    FILE *log = fopen(path, "re");
    ck_assert_ptr_nonnull(log);
    keep_places(log);
    while (fgets(line, sizeof(line), log) != NULL) {
        add_call(calls, line);
    }
    fclose(log);
    unlink(path);
    free(path);
    ck_assert_uint_gt(calls->count, 0);
}

/* --- breaking one call ----------------------------------------------------------------------- */

static bool dies(const struct fault *fault)
{
    return strcmp(fault->action, "kill") == 0 || strcmp(fault->action, "torn") == 0;
}

/* Known faults of libraries. Crash: json-c does not check the copy of a member's name, and the
 * Kerberos library does not check its first allocations. Hang: libpq waits forever if it runs out
 * of memory when it reads the end of a pipeline. */
static bool is_theirs(const struct fault *fault, const struct call *call, bool ended)
{
    if (!ended) {
        return strcmp(fault->class, "memory") == 0 && strstr(call->text, " libpq.so") != NULL;
    }
    return (strcmp(call->function, "strdup") == 0 && strstr(call->text, " libjson-c.so") != NULL) ||
           strstr(call->text, " libgssapi_krb5.so") != NULL;
}

/* A sanitizer reports the same crash differently. */
static bool crashed(const struct program_result *result)
{
    return result->exit_code == 128 + SIGSEGV ||
           strstr(result->err, "AddressSanitizer: SEGV on unknown address 0x000000000000 ") != NULL;
}

/* Checks the end of a program that failed and was not killed. Returns null or what is wrong. An
 * exit code must be documented and have a reason; out of memory may be an abort with a message. */
static const char *wrong_end(const struct workload *work, const struct program_result *result)
{
    bool exhausted = result->exit_code == 128 + SIGABRT &&
                     strstr(result->err, "rowferry: out of memory") != NULL;
    if (!exhausted && result->exit_code > 6) {
        return "no documented exit code";
    }
    if (strstr(result->err, "Sanitizer") != NULL ||
        strstr(result->err, "runtime error: ") != NULL) {
        return "a sanitizer has something to say";
    }
    bool reason = strstr(result->err, "rowferry: ") != NULL;
    return result->exit_code == work->exit_code || reason ? NULL : "no reason";
}

/* Returns what is wrong with the result, or null. */
static const char *judge(const struct workload *work, const struct fault *fault, bool hit,
                         const struct program_result *result)
{
    if (hit && dies(fault)) {
        return result->exit_code == 128 + SIGKILL ? NULL : "it is not dead";
    }
    if (hit) {
        return wrong_end(work, result);
    }
    return result->exit_code == work->exit_code ? NULL : "another exit code, and no fault";
}

/* Runs once with a broken call. Returns false if the call did not occur. */
static bool try_call(struct stage *s, const struct workload *work, const struct fault *fault,
                     const struct call *call, struct tally *tally)
{
    char setting[PATH_BYTES];
    char what[256];
    struct program_result result;
    char *path = marker(s);
    snprintf(what, sizeof(what), "%s at %s number %ld", fault->action, call->text, call->number);
    printf("%s: %s\n", work->name, what);
    fflush(stdout);
    work->prepare(s);
    unlink(path);
    snprintf(setting, sizeof(setting), "ROWFERRY_TEST_BOUNDARY=%s %s %s %s %ld %d", fault->action,
             fault->class, path, call->site, call->number, fault->error);
    bool ended = run(s, work, setting, END_MS, &result);
    bool hit = is_marked(path);
    const char *wrong = ended ? judge(work, fault, hit, &result) : "no end";
    if (hit && (!ended || crashed(&result)) && is_theirs(fault, call, ended)) {
        printf("  a fault of the library\n");
        tally->theirs++;
    } else if (wrong != NULL) {
        printf("  WRONG: %s: exit code %d: %s\n", wrong, result.exit_code, result.err);
        tally->wrong++;
    } else if (result.exit_code == 0 && !work->stopped) {
        world_expect_equal(&s->w);
    }
    program_result_release(&result);
    work->recover(s);
    free(path);
    return hit;
}

/* Tries repeatedly, because some calls depend on how fast an answer is. */
static void break_call(struct stage *s, const struct workload *work, const struct fault *fault,
                       const struct call *call, struct tally *tally)
{
    bool hit = false;
    for (int i = 0; i < TRIES && !hit; i++) {
        hit = try_call(s, work, fault, call, tally);
    }
    if (!hit) {
        printf("  did not come again\n");
    }
    tally->hits += hit;
    tally->missed += !hit;
    tally->functions[tally_of(tally, call->function)].hits += hit;
}

/* --- all calls ------------------------------------------------------------------------------- */

static const char *error_name(const struct fault *fault)
{
    static const char *const codes[] = {
        [SQLITE_BUSY] = "BUSY", [SQLITE_NOMEM] = "NOMEM", [SQLITE_FULL] = "FULL"};
    if (strcmp(fault->class, "sqlite") != 0) {
        return fault->error != 0 ? strerrorname_np(fault->error) : "";
    }
    return (fault->error & 0xff) == SQLITE_IOERR ? "IOERR" : codes[fault->error];
}

static void tell(const struct workload *work, const struct fault *fault, const struct calls *calls,
                 int64_t wanted, const struct tally *tally)
{
    printf("boundary %s, %s %s%s%s: %lld of %lld calls at %zu sites, %lld hit, %lld did not come "
           "again, %lld faults of a library, %lld wrong;",
           work->name, fault->action, fault->class, fault->error != 0 ? " " : "", error_name(fault),
           (long long)(tally->hits + tally->missed), (long long)wanted, calls->sites,
           (long long)tally->hits, (long long)tally->missed, (long long)tally->theirs,
           (long long)tally->wrong);
    for (size_t i = 0; i < tally->count; i++) {
        printf(" %s %lld/%lld", tally->functions[i].name, (long long)tally->functions[i].hits,
               (long long)tally->functions[i].calls);
    }
    printf("\n");
    fflush(stdout);
    for (size_t i = 0; i < tally->count; i++) {
        ck_assert_msg(tally->functions[i].hits > 0, "%s, %s: no %s was hit", work->name,
                      fault->action, tally->functions[i].name);
    }
    ck_assert_msg(tally->wrong == 0, "%s, %s: %lld wrong ends, see above", work->name,
                  fault->action, (long long)tally->wrong);
    /* one of a few is already a large share, and each function was hit */
    ck_assert_msg(tally->hits + tally->missed < CALLS_TO_JUDGE ||
                      tally->missed * 4 <= tally->hits + tally->missed,
                  "%s, %s: %lld of %lld calls did not come again", work->name, fault->action,
                  (long long)tally->missed, (long long)(tally->hits + tally->missed));
}

static bool concerns(const struct fault *fault, const struct call *call)
{
    char word[NAME_BYTES + 2];
    snprintf(word, sizeof(word), " %s ", call->function);
    return fault->functions == NULL || strstr(fault->functions, word) != NULL;
}

static bool chosen(int64_t fewer, int64_t nth)
{
    int64_t stride = crash_setting("ROWFERRY_STRIDE", 40);
    int64_t sparse = stride > 1 ? stride * fewer : stride;
    return (nth + crash_setting("ROWFERRY_OFFSET", 0)) % sparse == 0;
}

/* If no call of a function was chosen or occurred: breaks the first one that occurs. */
static void break_one(struct stage *s, const struct workload *work, const struct fault *fault,
                      const struct calls *calls, struct tally *tally, size_t function)
{
    for (size_t i = 0; i < calls->count && tally->functions[function].hits == 0; i++) {
        if (strcmp(calls->items[i].function, tally->functions[function].name) == 0) {
            break_call(s, work, fault, &calls->items[i], tally);
        }
    }
}

static void try_all(struct stage *s, const struct workload *work, const struct fault *fault)
{
    struct calls calls;
    struct tally tally = {0};
    int64_t nth = 0;
    int64_t fewer = (work->sparse > 0 ? work->sparse : 1) * (fault->sparse > 0 ? fault->sparse : 1);
    list(s, work, fault, &calls);
    for (size_t i = 0; i < calls.count; i++) {
        if (concerns(fault, &calls.items[i])) {
            tally.functions[tally_of(&tally, calls.items[i].function)].calls++;
            if (chosen(fewer, nth++)) {
                break_call(s, work, fault, &calls.items[i], &tally);
            }
        }
    }
    for (size_t i = 0; i < tally.count; i++) {
        break_one(s, work, fault, &calls, &tally, i);
    }
    tell(work, fault, &calls, nth, &tally);
    free(calls.items);
}

void boundaries_test(const struct workload *work, const struct fault *fault)
{
    struct stage s;
    stage_start(&s);
    if (work->begin != NULL) {
        work->begin(&s);
    }
    try_all(&s, work, fault);
    stage_stop(&s);
}

void boundaries_test_all(const struct workload *work)
{
    boundaries_test(work, &boundary_kill);
    boundaries_test(work, &boundary_torn);
    boundaries_test(work, &boundary_full);
}
