/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of state, each as one step on a state file. Together they run every statement. */
#pragma once

#include <stdlib.h>

#include "rowferry/base/buf.h"
#include "rowferry/state/definition.h"
#include "rowferry/state/generation_config.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/history.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/lock.h"
#include "rowferry/state/pause.h"
#include "rowferry/state/rebuild.h"
#include "rowferry/state/reconcile.h"
#include "rowferry/state/request.h"
#include "rowferry/state/resnapshot.h"
#include "rowferry/state/verification.h"
#include "statefile.h"

#define STEP_TEXT_BYTES ((size_t)1 << 20)

/* The data of a step; results go into `said`. */
struct trial {
    struct statefile file;
    struct state *s;
    struct buf said;
};

static char former_name[] = "articles-0";
static char next_name[] = "articles-2";

static int load(struct trial *t, struct err *err)
{
    struct checkpoint c;
    int rc = checkpoint_load(t->s, &c, err);
    if (rc == 0) {
        buf_printf(&t->said, "%d %s %s %s %lld", (int)c.phase, c.generation, c.index_uuid,
                   c.position, (long long)c.clock_ceiling);
    }
    checkpoint_release(&c);
    return rc;
}

static int settle(struct trial *t, struct err *err)
{
    const struct new_letter letters[] = {statefile_letter("b", 2), statefile_letter("c", 3)};
    const struct span cleared[] = {span_of("a"), span_of("d")};
    return checkpoint_settle(t->s,
                             &(struct settlement){.position = "after",
                                                  .settled = 2,
                                                  .letters = letters,
                                                  .letter_count = 2,
                                                  .cleared = cleared,
                                                  .cleared_count = 2,
                                                  .wall_us = 7},
                             err);
}

static int raise_ceiling(struct trial *t, struct err *err)
{
    return checkpoint_raise_ceiling(t->s, 1700000000000009, err);
}

static int lower_ceiling(struct trial *t, struct err *err)
{
    return checkpoint_lower_ceiling(t->s, 5, err);
}

static struct checkpoint generation(char *name, int64_t number)
{
    return (struct checkpoint){.generation = name,
                               .generation_number = number,
                               .index_uuid = name,
                               .mapping_fingerprint = name,
                               .table_fingerprint = name,
                               .source_identity = name,
                               .clock_ceiling = 1800000000000000};
}

static int begin_generation(struct trial *t, struct err *err)
{
    struct checkpoint c = generation(next_name, 2);
    return checkpoint_begin_generation(t->s, &c, err);
}

static int set_uuid(struct trial *t, struct err *err)
{
    return checkpoint_set_uuid(t->s, "another", err);
}

static int go_live(struct trial *t, struct err *err)
{
    return checkpoint_go_live(t->s, 8, err);
}

static int take_over(struct trial *t, struct err *err)
{
    struct checkpoint c = generation(next_name, 3);
    int64_t cut;
    int rc = checkpoint_take_over(
        t->s, &c, "{\"total\":2,\"letters\":[[\"z\",0,\"no\",400,1,2,3,1,\"\"]]}", 9, &cut, err);
    if (rc == 0) {
        buf_printf(&t->said, "cut %lld", (long long)cut);
    }
    return rc;
}

static int say_letter(void *context, const struct dead_letter *letter)
{
    buf_printf(context, " %s %s", letter->key, letter->reason);
    return 0;
}

static int say_group(void *context, const struct dead_letter_group *group)
{
    buf_printf(context, " %s %lld", group->error_type, (long long)group->count);
    return 0;
}

/* Discards the results of a step that failed. */
static int unsaid(struct trial *t, int rc)
{
    if (rc != 0) {
        buf_reset(&t->said);
    }
    return rc;
}

static int tell_letters(struct trial *t, struct err *err)
{
    return unsaid(t, deadletter_each(t->s, say_letter, &t->said, err));
}

static int tell_groups(struct trial *t, struct err *err)
{
    struct dead_letter_filter all = {0};
    return unsaid(t, deadletter_groups(t->s, &all, say_group, &t->said, err));
}

static int export_letters(struct trial *t, struct err *err)
{
    return unsaid(t, deadletter_export(t->s, &t->said, err));
}

static int work(struct trial *t, struct err *err)
{
    struct live_progress w = {
        .told_us = 1, .stage = "copying", .rows = 3, .growth_stopped = "x", .share = 0.5};
    bool known = false;
    int rc = live_progress_write(t->s, &w, err);
    rc = rc == 0 ? live_progress_read(t->s, &w, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %s %lld", known, w.stage, (long long)w.rows);
    }
    return rc;
}

static int halt_and_look(struct trial *t, struct err *err)
{
    struct guard_stop h = {.deletes = 3, .documents = 4, .at_us = 5, .reason = "too many"};
    bool known = false;
    int rc = guard_stop_write(t->s, &h, err);
    rc = rc == 0 ? guard_stop_read(t->s, &h, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %s", known, h.reason);
    }
    return rc;
}

static int unhalt(struct trial *t, struct err *err)
{
    return guard_stop_clear(t->s, err);
}

static int hold_on(struct trial *t, struct err *err)
{
    int64_t since_us = 0;
    int rc = pause_begin(t->s, 77, err);
    rc = rc == 0 ? pause_read(t->s, &since_us, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%lld", (long long)since_us);
    }
    return rc;
}

static int go_on(struct trial *t, struct err *err)
{
    return pause_end(t->s, err);
}

static int reconciled(struct trial *t, struct err *err)
{
    struct reconcile r = {.finished_us = 5, .owed_us = 6};
    bool known = false;
    int rc = reconcile_write(t->s, &r, err);
    rc = rc == 0 ? reconcile_read(t->s, &r, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %lld", known, (long long)r.owed_us);
    }
    return rc;
}

static int verified(struct trial *t, struct err *err)
{
    struct verification v = {.ended_us = 5, .missing = 6, .message = "six are missing"};
    bool known = false;
    int rc = verification_write(t->s, &v, err);
    rc = rc == 0 ? verification_read(t->s, &v, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %s", known, v.message);
    }
    return rc;
}

static int copied_again(struct trial *t, struct err *err)
{
    struct resnapshot c;
    bool known = false;
    int rc = resnapshot_write(t->s, "for a reason", 6, err);
    rc = rc == 0 ? resnapshot_read(t->s, &c, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%d %s", known, c.reason);
    }
    return rc;
}

static int define(struct trial *t, struct err *err)
{
    char *words = NULL;
    int rc = definition_note(t->s, "0815", "a definition", err);
    rc = rc == 0 ? definition_look(t->s, "0815", &words, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%s", words);
    }
    free(words);
    return rc;
}

static int extend(struct trial *t, struct err *err)
{
    const char *const properties[] = {"body", "title.raw"};
    struct lacking lacking = {0};
    const struct extension e = {"0815", "0816", properties, 2, 9};
    int rc = definition_extension_note(t->s, &e, err);
    rc = rc == 0 ? definition_extension_look(t->s, "articles-1", &lacking, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%s", lacking.properties);
    }
    free(lacking.properties);
    return rc;
}

static int leave_build(struct trial *t, struct err *err)
{
    struct former_config former = {0};
    int rc = generation_config_write(t->s, "articles-1", "its words", err);
    rc = rc == 0 ? generation_config_leave(t->s, true, err) : rc;
    rc = rc == 0 ? generation_config_read_former(t->s, &former, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%s", former.configuration);
    }
    free(former.configuration);
    return rc;
}

static int run_begins(struct trial *t, struct err *err)
{
    int64_t id;
    int rc = history_begin(t->s, "sync", 11, &id, err);
    if (rc == 0) {
        buf_printf(&t->said, "%lld", (long long)id);
    }
    return rc;
}

static int run_ends(struct trial *t, struct err *err)
{
    return history_end(t->s, &(struct run){.id = 1, .ended_us = 9, .message = "well"}, err);
}

static int tell_runs(struct trial *t, struct err *err)
{
    struct run runs[3];
    size_t count;
    int rc = history_last(t->s, runs, 3, &count, err);
    if (rc == 0) {
        buf_printf(&t->said, "%zu %s", count, runs[0].command);
    }
    return rc;
}

static int ask(struct trial *t, struct err *err)
{
    int64_t id;
    int rc = request_file(t->s, "retry", "{}", 12, &id, err);
    if (rc == 0) {
        buf_printf(&t->said, "%lld", (long long)id);
    }
    return rc;
}

static int take_request(struct trial *t, struct err *err)
{
    struct buf command;
    struct buf arguments;
    int64_t id;
    buf_init(&command, STEP_TEXT_BYTES);
    buf_init(&arguments, STEP_TEXT_BYTES);
    int rc = request_take(t->s, 0, &id, &command, &arguments, err);
    if (rc == 0) {
        buf_printf(&t->said, "%lld %s %s", (long long)id, buf_text(&command), buf_text(&arguments));
    }
    buf_release(&command);
    buf_release(&arguments);
    return rc;
}

static int answer(struct trial *t, struct err *err)
{
    return request_answer(t->s, 1, REQUEST_DONE, "{\"n\":1}", 13, err);
}

static int look_for_answer(struct trial *t, struct err *err)
{
    enum request_state state;
    int rc = request_look(t->s, 1, &state, &t->said, err);
    return unsaid(t, rc);
}

static int hold(struct trial *t, struct err *err)
{
    return lock_take(t->s, "sync", 14, err);
}

static int begin_rebuild(struct trial *t, struct err *err)
{
    const struct rebuild r = {.begun_us = 99, .former = "articles/articles-0"};
    return rebuild_begin(t->s, &r, NULL, err);
}

static int begin_way_back(struct trial *t, struct err *err)
{
    const struct rebuild r = {.kind = REBUILD_BACK, .begun_us = 99};
    struct checkpoint c = generation(former_name, 1);
    return rebuild_begin(t->s, &r, &c, err);
}

static int look_at_rebuild(struct trial *t, struct err *err)
{
    struct rebuild r;
    bool underway;
    int rc = rebuild_look(t->s, &r, &underway, err);
    if (rc == 0) {
        buf_printf(&t->said, "%d %lld", underway, (long long)r.begun_us);
    }
    return rc;
}

static int open_next(struct trial *t, struct err *err)
{
    struct state *next;
    int rc = rebuild_open(t->s, &next, err);
    if (rc == 0) {
        buf_printf(&t->said, "%s", next != NULL ? next->pipeline : "none");
        state_close(next);
    }
    return rc;
}

static int promote(struct trial *t, struct err *err)
{
    return rebuild_promote(t->s, "articles/articles-1", 77, err);
}

static int give_up(struct trial *t, struct err *err)
{
    return rebuild_forget(t->s, "articles/articles-2", err);
}

static int meet_former(struct trial *t, struct err *err)
{
    return rebuild_former_meet(t->s, "articles/articles-9", 3, err);
}

static int former_is_due(struct trial *t, struct err *err)
{
    return rebuild_former_due(t->s, "articles/articles-0", err);
}

static int forget_former(struct trial *t, struct err *err)
{
    return rebuild_former_forget(t->s, "articles/articles-0", err);
}

static int tell_former(struct trial *t, struct err *err)
{
    struct former first;
    struct former last;
    bool known;
    int rc = rebuild_former_look(t->s, &first, &known, err);
    rc = rc == 0 ? rebuild_former_last(t->s, &last, &known, err) : rc;
    if (rc == 0) {
        buf_printf(&t->said, "%s %s %lld", first.consumer, last.consumer, (long long)last.count);
    }
    return rc;
}

static int open_again(struct trial *t, struct err *err)
{
    struct state *s;
    int rc = state_open(&s, t->file.path, "articles", err);
    state_close(s);
    return rc;
}

static int open_another(struct trial *t, struct err *err)
{
    struct state *s;
    int rc = state_open(&s, t->file.path, "comments", err);
    state_close(s);
    return rc;
}

static int open_to_read(struct trial *t, struct err *err)
{
    struct state *s;
    int rc = state_open_read_only(&s, t->file.path, "articles", err);
    state_close(s);
    return rc;
}

#include "steps_told.h"

enum step_place {
    STEP_LIVE,     /* on a live pipeline with rows in every table */
    STEP_REBUILDS, /* the same, with a rebuild under way */
    STEP_OPENS,    /* on its file, which is not open */
    STEP_CREATES,  /* without a file */
};

struct step {
    int (*run)(struct trial *t, struct err *err);
    enum step_place place;
    bool in_parts; /* several transactions: complete after a second run */
    bool aborts; /* may end the process if memory is exhausted; its message is already allocated */
};

static const struct step steps[] = {
    {load, STEP_LIVE, false, false},
    {settle, STEP_LIVE, false, false},
    {raise_ceiling, STEP_LIVE, false, false},
    {lower_ceiling, STEP_LIVE, false, false},
    {begin_generation, STEP_LIVE, false, false},
    {set_uuid, STEP_LIVE, false, false},
    {go_live, STEP_LIVE, false, false},
    {take_over, STEP_LIVE, false, false},
    {tell_letters, STEP_LIVE, false, false},
    {tell_groups, STEP_LIVE, false, false},
    {export_letters, STEP_LIVE, false, true},
    {work, STEP_LIVE, false, false},
    {halt_and_look, STEP_LIVE, false, false},
    {unhalt, STEP_LIVE, false, false},
    {hold_on, STEP_LIVE, false, false},
    {go_on, STEP_LIVE, false, false},
    {reconciled, STEP_LIVE, false, false},
    {verified, STEP_LIVE, false, false},
    {judged, STEP_LIVE, false, false},
    {hooks_told, STEP_LIVE, false, false},
    {limit_learned, STEP_LIVE, false, false},
    {copied_again, STEP_LIVE, false, false},
    {place_noted, STEP_LIVE, false, false},
    {define, STEP_LIVE, false, false},
    {extend, STEP_LIVE, false, false},
    {leave_build, STEP_LIVE, true, false},
    {run_begins, STEP_LIVE, false, false},
    {run_ends, STEP_LIVE, false, false},
    {tell_runs, STEP_LIVE, false, false},
    {ask, STEP_LIVE, false, false},
    {take_request, STEP_LIVE, false, false},
    {answer, STEP_LIVE, false, false},
    {look_for_answer, STEP_LIVE, false, false},
    {hold, STEP_LIVE, true, false},
    {begin_rebuild, STEP_LIVE, false, false},
    {begin_way_back, STEP_LIVE, false, false},
    {look_at_rebuild, STEP_LIVE, false, false},
    {look_at_rebuild, STEP_REBUILDS, false, false},
    {open_next, STEP_REBUILDS, false, false},
    {promote, STEP_REBUILDS, false, false},
    {give_up, STEP_REBUILDS, false, false},
    {meet_former, STEP_LIVE, false, false},
    {former_is_due, STEP_LIVE, false, false},
    {forget_former, STEP_LIVE, false, false},
    {tell_former, STEP_LIVE, false, false},
    {open_again, STEP_OPENS, false, false},
    {open_another, STEP_OPENS, false, false},
    {open_to_read, STEP_OPENS, false, false},
    {open_again, STEP_CREATES, true, false},
};
