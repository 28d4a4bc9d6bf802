/* SPDX-License-Identifier: Apache-2.0 */
/* The source reader when the source is lost and returns, with a real state file. */
#include "core/source_reader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/log.h"
#include "rowferry/state/checkpoint.h"
#include "suite.h"

#define BUDGET_MS 1000
#define STEPS_MOST 10000

/* A source with one empty page, which is lost as often as a test wants. Like the real port it keeps
 * its facts in its own memory and overwrites them at each connection. */
static struct {
    char identity[32];
    char becomes[32]; /* identity at the next connection */
    int held;         /* number of captures held by another session */
    int lost_begins;  /* number of pages that cannot begin */
    int learns;       /* number of other failures, after which the capture knows more */
    int joins;        /* number of members that join */
    int misses;       /* number of pages before which changes were missed */
    int refusals;     /* number of pages that are refused */
    const char *why;  /* what an opening says, as a final error; null: nothing */
    int connects;
} source;

static int64_t now_us;
static char folder[64];
static struct state *state;
static struct window window;
static struct retry_budget retry_budget;
static struct source_reader source_reader;

static int64_t now(void *context)
{
    (void)context;
    return now_us;
}

static uint64_t chance(void *context)
{
    (void)context;
    return 12345;
}

static const struct clock test_clock = {now, now, chance, NULL};

static int one_start(struct capture *c, struct buf *position, struct err *err)
{
    (void)c;
    (void)err;
    buf_push_text(position, "start");
    return 0;
}

static int one_resume(struct capture *c, const char *position, struct err *err)
{
    (void)c;
    (void)position;
    return source.why != NULL ? err_set(err, ERR_REJECTED, "%s", source.why) : 0;
}

static int one_begin(struct capture *c, struct err *err)
{
    if (source.learns > 0) {
        source.learns--;
        c->adapted = CAPTURE_ADAPTED_CHARACTER;
        return err_set(err, ERR_TRANSIENT, "a row holds a character that was not known");
    }
    if (source.joins > 0) {
        source.joins--;
        c->adapted = CAPTURE_ADAPTED_MEMBER;
        return err_set(err, ERR_TRANSIENT, "public.later has just become part of things");
    }
    if (source.misses > 0) {
        source.misses--;
        c->adapted = CAPTURE_ADAPTED_MISSED;
        return err_set(err, ERR_TRANSIENT, "the triggers of things were changed");
    }
    if (source.refusals > 0) {
        source.refusals--;
        return err_set(err, ERR_REJECTED, "permission denied for table things");
    }
    if (source.lost_begins > 0) {
        source.lost_begins--;
        return err_set(err, ERR_TRANSIENT, "canceling statement due to lock timeout");
    }
    return 0;
}

static int one_next(struct capture *c, struct change *change, struct err *err)
{
    (void)c;
    (void)err;
    *change = (struct change){.kind = CHANGE_PAGE, .position = "end", .drained = true};
    return 0;
}

static void one_free(struct capture *c)
{
    (void)c;
}

static const struct capture_ops one_ops = {
    .start = one_start,
    .resume = one_resume,
    .begin = one_begin,
    .next = one_next,
    .free = one_free,
};

static int source_connect(struct table_source *self, struct source_facts *facts, struct err *err)
{
    (void)self;
    (void)err;
    source.connects++;
    memcpy(source.identity, source.becomes, sizeof(source.identity));
    *facts = (struct source_facts){source.identity, "columns", NULL, NULL, 0, NULL};
    return 0;
}

static int source_capture(struct table_source *self, const char *consumer, struct capture **out,
                          struct err *err)
{
    static struct capture capture = {.ops = &one_ops};
    (void)self;
    if (source.held > 0) {
        source.held--;
        return err_set(err, ERR_HELD, "\"%s\" is held by another session", consumer);
    }
    *out = &capture;
    return 0;
}

static const struct source_port_ops port_ops = {.connect = source_connect,
                                                .capture = source_capture};

static void begin(void)
{
    struct err err;
    char path[96];
    snprintf(folder, sizeof(folder), "/tmp/rowferry-reader-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/state.db", folder);
    ck_assert_int_eq(state_open(&state, path, "things", &err), 0);
    struct checkpoint generation = {.generation = (char[]){"things-1"}, .generation_number = 1};
    ck_assert_int_eq(checkpoint_begin_generation(state, &generation, &err), 0);
    now_us = 1000000;
    strcpy(source.becomes, "1/shop");
    window_init(&window, 1 << 20);
    retry_budget_init(&retry_budget, "source", "things", BUDGET_MS);
    source_reader = (struct source_reader){.source = {&port_ops, NULL},
                                           .state = state,
                                           .clock = test_clock,
                                           .window = &window,
                                           .retry_budget = &retry_budget,
                                           .consumer = "things/things-1"};
    struct source_facts facts;
    ck_assert_int_eq(source_connect(NULL, &facts, &err), 0);
    source_reader_init(&source_reader, &facts, NULL, 0);
}

static void end(void)
{
    char path[128];
    source_reader_release(&source_reader);
    window_release(&window);
    state_close(state);
    snprintf(path, sizeof(path), "%s/state.db", folder);
    unlink(path);
    snprintf(path, sizeof(path), "%s/state.db.lock", folder);
    unlink(path);
    rmdir(folder);
}

/* Reads until the end of a page (0) or an error; waits as the retry budget requires. */
static int read_page(struct err *err)
{
    struct change change;
    for (int i = 0; i < STEPS_MOST; i++) {
        int rc = source_reader_next(&source_reader, &change, err);
        if (rc < 0 || change.kind == CHANGE_PAGE) {
            return rc;
        }
        now_us += 1000 * retry_budget_wait_ms(&retry_budget, now_us);
    }
    ck_abort_msg("neither a page nor an error");
    return 0;
}

START_TEST(another_database_at_the_same_address_is_not_read)
{
    struct err err;
    ck_assert_int_eq(read_page(&err), 0);
    source.lost_begins = 1;
    strcpy(source.becomes, "2/shop");
    ck_assert_int_eq(read_page(&err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "another database"));
    ck_assert(err.drift);
}
END_TEST

START_TEST(a_table_that_stays_locked_spends_the_budget)
{
    struct err err;
    source.lost_begins = STEPS_MOST;
    ck_assert_int_eq(read_page(&err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "limits.retry_budget"));
}
END_TEST

START_TEST(a_capture_that_learned_something_is_resumed_at_once)
{
    struct err err;
    source.learns = STEPS_MOST / 4;
    int64_t before_us = now_us;
    int connects = source.connects;
    ck_assert_int_eq(read_page(&err), 0);
    ck_assert_int_eq(source.learns, 0);
    ck_assert_int_eq(now_us - before_us, 0);
    ck_assert_int_eq(source.connects, connects);
}
END_TEST

/* Counts the events of an outage and of members that join. */
static void count_event(void *context, enum log_level level, int64_t wall_us, const char *event,
                        const struct log_field *fields)
{
    int *counts = context;
    (void)level;
    (void)wall_us;
    (void)fields;
    counts[0] += strcmp(event, "away") == 0 || strcmp(event, "back") == 0;
    counts[1] += strcmp(event, "member_joined") == 0;
}

START_TEST(a_member_that_joins_is_news_and_no_outage)
{
    struct err err;
    int counts[2] = {0};
    const struct log_watcher watcher = {count_event, counts};
    log_watch(&watcher);
    source.learns = 1;
    source.joins = 2;
    int64_t before_us = now_us;
    ck_assert_int_eq(read_page(&err), 0);
    ck_assert_int_eq(counts[1], 2);
    source.lost_begins = 1;
    ck_assert_int_eq(now_us - before_us, 0);
    ck_assert_int_eq(counts[0], 0);
    ck_assert_int_eq(read_page(&err), 0);
    ck_assert_int_eq(counts[0], 2);
    log_watch(NULL);
}
END_TEST

START_TEST(missed_changes_are_no_outage)
{
    struct err err;
    int counts[2] = {0};
    const struct log_watcher watcher = {count_event, counts};
    log_watch(&watcher);
    ck_assert_int_eq(read_page(&err), 0);
    source.misses = 1;
    int64_t before_us = now_us;
    int connects = source.connects;
    ck_assert_int_eq(read_page(&err), 0);
    ck_assert_int_eq(now_us - before_us, 0);
    ck_assert_int_eq(source.connects, connects + 1);
    source.misses = 1;
    source.why = "the trigger is missing";
    ck_assert_int_eq(read_page(&err), ERR_REJECTED);
    ck_assert_str_eq(err.message, source.why);
    ck_assert_int_eq(counts[0], 0);
    source.why = NULL;
    log_watch(NULL);
}
END_TEST

START_TEST(a_refusal_is_reported_in_the_words_of_the_next_opening)
{
    struct err err;
    ck_assert_int_eq(read_page(&err), 0);
    source.refusals = 1;
    ck_assert_int_eq(read_page(&err), ERR_REJECTED);
    ck_assert_str_eq(err.message, "permission denied for table things");
    ck_assert_int_eq(read_page(&err), 0);
    source.refusals = 1;
    source.why = "this role may not read the table";
    ck_assert_int_eq(read_page(&err), ERR_REJECTED);
    ck_assert_str_eq(err.message, source.why);
    source.why = NULL;
}
END_TEST

START_TEST(a_page_that_was_read_gives_a_new_budget)
{
    struct err err;
    for (int i = 0; i < 10; i++) {
        source.lost_begins = 2;
        ck_assert_int_eq(read_page(&err), 0);
        now_us += 1000 * BUDGET_MS;
    }
}
END_TEST

START_TEST(a_lost_session_of_ours_that_still_holds_is_waited_for)
{
    struct err err;
    ck_assert_int_eq(read_page(&err), 0);
    source.lost_begins = 1;
    source.held = 3;
    ck_assert_int_eq(read_page(&err), 0);
    ck_assert_int_eq(source.held, 0);
}
END_TEST

START_TEST(another_holder_at_the_beginning_is_told)
{
    struct err err;
    source.held = 1;
    ck_assert_int_eq(read_page(&err), ERR_HELD);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/source_reader");
    TCase *lost = tcase_create("lost");
    tcase_add_checked_fixture(lost, begin, end);
    tcase_add_test(lost, another_database_at_the_same_address_is_not_read);
    tcase_add_test(lost, a_table_that_stays_locked_spends_the_budget);
    tcase_add_test(lost, a_capture_that_learned_something_is_resumed_at_once);
    tcase_add_test(lost, a_member_that_joins_is_news_and_no_outage);
    tcase_add_test(lost, missed_changes_are_no_outage);
    tcase_add_test(lost, a_refusal_is_reported_in_the_words_of_the_next_opening);
    tcase_add_test(lost, a_page_that_was_read_gives_a_new_budget);
    tcase_add_test(lost, a_lost_session_of_ours_that_still_holds_is_waited_for);
    tcase_add_test(lost, another_holder_at_the_beginning_is_told);
    suite_add_tcase(suite, lost);
    return suite_end(suite);
}
