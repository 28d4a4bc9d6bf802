/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the source, takes versions, begins pages, recovers from a lost connection. */
#include "core/source_reader.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/resnapshot.h"

#define SOURCE_READER_AGAIN_MAX 1000 /* maximum number of keys in one re-reading page */

void source_reader_init(struct source_reader *r, const struct source_facts *facts,
                        const char *position, int64_t clock_ceiling)
{
    r->identity = text_copy(facts->identity);
    r->fingerprint = text_copy(facts->fingerprint);
    r->position = position != NULL ? text_copy(position) : NULL;
    r->connected = true;
    version_start(&r->ticks, clock_ceiling);
}

static void source_reader_close(struct source_reader *r)
{
    if (r->capture != NULL) {
        r->capture->ops->free(r->capture);
    }
    r->capture = NULL;
    r->reading = SOURCE_READER_CLOSED;
}

/* Drops the conflicting operations that were replaced, or all of them. */
static void source_reader_forget_again(struct source_reader *r, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->again.count; i++) {
        if (all || r->again.list[i].replaced) {
            free((void *)(uintptr_t)r->again.list[i].key.data);
        } else {
            r->again.list[kept++] = r->again.list[i];
        }
    }
    r->again.count = kept;
    r->again.reading = 0;
}

static void source_reader_forget_asked(struct source_reader *r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)r->asked.keys[i].data);
    }
    r->asked.count -= count;
    r->asked.reading = 0;
    if (r->asked.count > 0) {
        memmove(r->asked.keys, r->asked.keys + count, r->asked.count * sizeof(*r->asked.keys));
    }
}

void source_reader_release(struct source_reader *r)
{
    source_reader_close(r);
    source_reader_forget_again(r, true);
    source_reader_forget_asked(r, r->asked.count);
    free(r->again.list);
    free(r->asked.keys);
    free(r->asked.error);
    free(r->identity);
    free(r->fingerprint);
    free(r->position);
}

void source_reader_again(struct source_reader *r, const struct again *conflict, int64_t seen)
{
    version_step_over(&r->ticks, seen);
    r->again.list = mem_grow(r->again.list, r->again.count + 1, sizeof(*r->again.list));
    struct again *kept = &r->again.list[r->again.count++];
    *kept = *conflict;
    kept->key = span_make(text_copy_span(conflict->key), conflict->key.len);
}

bool source_reader_replaces(struct source_reader *r, struct span key, struct again *conflict)
{
    size_t readable = r->again.reading > 0 ? r->again.reading : r->again.count;
    for (size_t i = 0; i < readable; i++) {
        if (!r->again.list[i].replaced && span_equal(r->again.list[i].key, key)) {
            r->again.list[i].replaced = true;
            *conflict = r->again.list[i];
            return true;
        }
    }
    return false;
}

void source_reader_guard(struct source_reader *r, bool guarded, uint64_t harmless)
{
    r->guarded = guarded;
    r->harmless = harmless;
    if (r->capture != NULL) {
        r->capture->guarded = guarded;
        r->capture->harmless = harmless;
    }
}

void source_reader_find_missing(struct source_reader *r, const struct span *keys, size_t count)
{
    r->missing.keys = keys;
    r->missing.count = count;
}

void source_reader_more(struct source_reader *r)
{
    r->reading = r->reading == SOURCE_READER_DRAINED ? SOURCE_READER_IDLE : r->reading;
}

bool source_reader_done(const struct source_reader *r)
{
    bool still = r->only_asked ? r->reading != SOURCE_READER_PAGE && r->page == 0
                               : r->reading == SOURCE_READER_DRAINED;
    return still && r->again.count == 0 && r->asked.count == 0 && r->missing.count == 0;
}

/* Takes the next version; its ceiling is made durable first. */
static int source_reader_tick(struct source_reader *r, struct err *err)
{
    int64_t now = clock_wall_us(&r->clock);
    int64_t ceiling = version_wanted_ceiling(&r->ticks, now);
    if (ceiling != 0) {
        int rc = checkpoint_raise_ceiling(r->state, ceiling, err);
        if (rc < 0) {
            return rc;
        }
        version_raise_ceiling(&r->ticks, ceiling);
    }
    r->version = version_tick(&r->ticks, now);
    r->read_us = now;
    return 0;
}

void source_reader_end_ticks(struct source_reader *r)
{
    struct err ignored;
    if (r->identity != NULL && r->ticks.last < r->ticks.ceiling &&
        checkpoint_lower_ceiling(r->state, r->ticks.last, &ignored) == 0) {
        r->ticks.ceiling = r->ticks.last;
    }
}

/* Checks that the source is still the one that this run began with. */
static int source_reader_check_facts(const struct source_reader *r,
                                     const struct source_facts *facts, struct err *err)
{
    if (strcmp(facts->identity, r->identity) != 0) {
        err_set(err, ERR_STATE, "the source answers as another database than before");
        return err_drift(err);
    }
    if (strcmp(facts->fingerprint, r->fingerprint) != 0) {
        err_set(err, ERR_STATE, "key or mapped columns of the table were changed meanwhile");
        return err_drift(err);
    }
    return 0;
}

static int source_reader_connect(struct source_reader *r, struct err *err)
{
    struct source_facts facts;
    int rc = 0;
    if (!r->connected) {
        rc = r->source.ops->connect(r->source.self, &facts, err);
        rc = rc < 0 ? rc : source_reader_check_facts(r, &facts, err);
    }
    r->connected = false;
    if (rc == 0) {
        rc = r->source.ops->capture(r->source.self, r->consumer, &r->capture, err);
    }
    if (rc == 0) {
        source_reader_guard(r, r->guarded, r->harmless);
    }
    return rc;
}

/* Makes the first position durable before anything is read. After a crash in the first page, the
 * log is then pinned where it began. */
static int source_reader_start(struct source_reader *r, struct err *err)
{
    struct buf position;
    buf_init(&position, 1024 * 1024);
    int rc = r->capture->ops->start(r->capture, &position, err);
    if (rc == 0) {
        struct settlement first = {.position = buf_text(&position),
                                   .wall_us = clock_wall_us(&r->clock)};
        rc = checkpoint_settle(r->state, &first, err);
    }
    if (rc == 0) {
        r->position = text_copy(buf_text(&position));
    }
    buf_release(&position);
    return rc;
}

/* Logs where an interrupted initial load resumes. rows_left: -1 if the row count is unknown. */
static void source_reader_report_resumed(const struct source_reader *r)
{
    struct capture_progress copy;
    r->capture->ops->progress(r->capture, &copy);
    if (copy.share >= 1) {
        return;
    }
    int64_t left = -1;
    if (copy.rows_estimated >= 0) {
        int64_t read = (int64_t)((double)copy.rows_estimated * copy.share);
        read = read > 0 ? read : r->loaded; /* the server has no statistics for the keys */
        left = copy.rows_estimated > read ? copy.rows_estimated - read : 0;
    }
    log_event(LOG_INFO, "load_resumed", F_TEXT("pipeline", r->retry_budget->pipeline),
              F_REAL("share", copy.share), F_INT("rows_left", left));
}

/* Logs once that the source could not be pruned, until it can be. Only disk space is lost there. */
static void source_reader_report_unpruned(struct source_reader *r)
{
    const char *why = r->capture != NULL ? r->capture->unpruned : NULL;
    if (why != NULL && !r->unpruned) {
        log_event(LOG_WARN, "prune_failed", F_TEXT("pipeline", r->retry_budget->pipeline),
                  F_TEXT("reason", why));
    }
    r->unpruned = why != NULL;
}

static int source_reader_report_again(const struct source_reader *r, struct err *err)
{
    const char *reason = r->capture->again;
    log_event(LOG_WARN, "copied_again", F_TEXT("pipeline", r->retry_budget->pipeline),
              F_TEXT("reason", reason));
    return resnapshot_write(r->state, reason, clock_wall_us(&r->clock), err);
}

static int source_reader_open(struct source_reader *r, struct err *err)
{
    int rc = 0;
    bool first = !r->opened && r->position != NULL && !r->only_asked;
    if (r->capture == NULL) {
        rc = source_reader_connect(r, err);
    }
    if (rc == 0 && r->position == NULL) {
        rc = source_reader_start(r, err);
    }
    if (rc == 0) {
        rc = r->capture->ops->resume(r->capture, r->position, err);
    }
    if (rc == 0) {
        r->reading = SOURCE_READER_IDLE;
        r->opened = true;
        source_reader_report_unpruned(r);
    }
    if (rc == 0 && r->capture->again != NULL) {
        rc = source_reader_report_again(r, err);
    } else if (rc == 0 && first) {
        source_reader_report_resumed(r);
    }
    if (rc == ERR_HELD && r->opened) { /* by our own lost session, not ended yet */
        err->class = ERR_TRANSIENT;
        return ERR_TRANSIENT;
    }
    return rc;
}

/* Begins a page of requested keys. An interrupted page is finished first. */
static int source_reader_begin_asked(struct source_reader *r, struct err *err)
{
    size_t count =
        r->asked.count < SOURCE_READER_AGAIN_MAX ? r->asked.count : SOURCE_READER_AGAIN_MAX;
    r->page = r->page != 0 ? r->page : window_open(r->window);
    r->asked.first = r->asked.first != 0 ? r->asked.first : r->page;
    r->asked.last = r->page;
    r->asked.reading = count;
    return r->capture->ops->begin_keys(r->capture, r->asked.keys, count, false, err);
}

static int source_reader_begin_again(struct source_reader *r, struct err *err)
{
    size_t count =
        r->again.count < SOURCE_READER_AGAIN_MAX ? r->again.count : SOURCE_READER_AGAIN_MAX;
    struct span *keys = mem_zero(count, sizeof(*keys));
    for (size_t i = 0; i < count; i++) {
        keys[i] = r->again.list[i].key;
    }
    int rc = r->capture->ops->begin_keys(r->capture, keys, count, false, err);
    free(keys);
    r->again.reading = rc == 0 ? count : 0;
    return rc;
}

static int source_reader_begin_find_missing(struct source_reader *r, struct err *err)
{
    r->page = r->page != 0 ? r->page : window_open(r->window);
    r->missing.reading = true;
    return r->capture->ops->begin_keys(r->capture, r->missing.keys, r->missing.count, true, err);
}

static int source_reader_begin(struct source_reader *r, struct err *err)
{
    int rc = source_reader_tick(r, err);
    if (rc < 0) {
        return rc;
    }
    if (r->again.count > 0) { /* uses the pages of the conflicting operations, so it opens none */
        rc = source_reader_begin_again(r, err);
    } else if (r->asked.reading > 0 || (r->asked.count > 0 && r->page == 0)) {
        rc = source_reader_begin_asked(r, err);
    } else if (r->missing.count > 0) {
        rc = source_reader_begin_find_missing(r, err);
    } else {
        r->page = r->page != 0 ? r->page : window_open(r->window);
        rc = r->capture->ops->begin(r->capture, err);
    }
    if (rc == 0) {
        r->reading = SOURCE_READER_PAGE;
    }
    return rc;
}

/* Closes a page that does not change the position. */
static void source_reader_close_page(struct source_reader *r)
{
    window_close(r->window, r->page, NULL);
    r->page = 0;
    r->reading = SOURCE_READER_IDLE;
}

/* Closes the open page of the window at this position. Once it is settled, nothing up to here is
 * read again. */
static void source_reader_reach(struct source_reader *r, const char *position)
{
    bool moved = strcmp(position, r->position) != 0;
    window_close(r->window, r->page, moved ? position : NULL);
    free(r->position);
    r->position = text_copy(position);
}

static void source_reader_end_page(struct source_reader *r, const struct change *change)
{
    bool reread = r->again.reading > 0;
    retry_budget_well(r->retry_budget, &r->clock); /* a connection alone is not progress */
    source_reader_forget_again(r, false);
    if (reread) { /* the position does not change */
        r->reading = SOURCE_READER_IDLE;
        return;
    }
    if (r->asked.reading > 0 || r->missing.reading || change->kind == CHANGE_PRESCAN_END ||
        change->ahead) {
        source_reader_close_page(r);
        source_reader_forget_asked(r, r->asked.reading);
        r->missing.count = r->missing.reading ? 0 : r->missing.count;
        r->missing.reading = false;
        return;
    }
    source_reader_reach(r, change->position);
    r->page = 0;
    r->reading = change->drained ? SOURCE_READER_DRAINED : SOURCE_READER_IDLE;
}

/* Handles a safepoint: the rest of the page becomes a new page. Skipped if the window has too many
 * pages; a later safepoint serves as well. */
static void source_reader_pass_mark(struct source_reader *r, const struct change *change)
{
    if (!window_pages_full(r->window)) {
        source_reader_reach(r, change->position);
        r->page = window_open(r->window);
    }
}

static int source_reader_step(struct source_reader *r, struct change *change, struct err *err)
{
    int rc = r->reading == SOURCE_READER_CLOSED ? source_reader_open(r, err) : 0;
    rc = rc == 0 && r->reading != SOURCE_READER_PAGE ? source_reader_begin(r, err) : rc;
    return rc == 0 ? r->capture->ops->next(r->capture, change, err) : rc;
}

/* Refuses a request with a key that the source cannot look up, such as one that is not a number.
 * The pipeline continues; if the source has another problem, the next page finds it again. */
static void source_reader_refuse_asked(struct source_reader *r, const struct err *why)
{
    source_reader_close(r);
    source_reader_forget_again(r, false);
    window_close(r->window, r->page, NULL);
    r->page = 0;
    source_reader_forget_asked(r, r->asked.count);
    r->asked.error = text_copy(why->message);
}

void source_reader_let_go(struct source_reader *r)
{
    source_reader_close(r);
    source_reader_forget_again(r, false);
}

static int source_reader_lose(struct source_reader *r, struct err *err)
{
    enum capture_adapted adapted = r->capture != NULL ? r->capture->adapted : CAPTURE_ADAPTED_NOT;
    if (adapted == CAPTURE_ADAPTED_MISSED) { /* a new capture copies again, or names the cause */
        r->capture->adapted = CAPTURE_ADAPTED_NOT;
        source_reader_let_go(r);
        return 0;
    }
    if (adapted == CAPTURE_ADAPTED_NOT) {
        source_reader_let_go(r);
        return retry_budget_away(r->retry_budget, &r->clock, err) ? 0 : ERR_TRANSIENT;
    }
    if (adapted == CAPTURE_ADAPTED_MEMBER) { /* news, but no outage */
        log_event(LOG_INFO, "member_joined", F_TEXT("pipeline", r->retry_budget->pipeline),
                  F_TEXT("message", err->message));
    }
    r->capture->adapted = CAPTURE_ADAPTED_NOT;
    r->reading = SOURCE_READER_CLOSED;
    source_reader_forget_again(r, false);
    return 0;
}

/* After a final error of an open capture: opens the source as the next round will. If that fails
 * too, its error is reported, because it names the cause, such as a missing privilege, and because
 * one cause is one error in the log. Of a changed definition the first error says more. */
static int source_reader_explain(struct source_reader *r, struct err *err)
{
    struct err why;
    if (r->capture == NULL || r->reading == SOURCE_READER_CLOSED) {
        return err->class;
    }
    source_reader_let_go(r);
    int rc = source_reader_connect(r, &why);
    if (rc == 0) {
        rc = r->capture->ops->resume(r->capture, r->position, &why);
    }
    source_reader_close(r);
    if (rc < 0 && rc != ERR_TRANSIENT && rc != ERR_HELD && !(why.drift && err->drift)) {
        why.drift = why.drift || err->drift;
        *err = why;
    }
    return err->class;
}

int source_reader_poll(struct source_reader *r, bool *any, struct err *err)
{
    int rc = 0;
    if (r->reading != SOURCE_READER_DRAINED || r->capture->ops->news == NULL) {
        *any = true;
    } else if (!*any) {
        rc = r->capture->ops->news(r->capture, any, err);
    }
    if (rc == ERR_TRANSIENT) {
        *any = true;
        return source_reader_lose(r, err);
    }
    if (rc == 0 && *any && r->reading == SOURCE_READER_DRAINED) {
        r->reading = SOURCE_READER_IDLE;
    }
    return rc < 0 ? source_reader_explain(r, err) : 0;
}

int source_reader_next(struct source_reader *r, struct change *change, struct err *err)
{
    *change = (struct change){.kind = CHANGE_WAIT};
    if (r->reading == SOURCE_READER_CLOSED &&
        retry_budget_wait_ms(r->retry_budget, clock_monotonic_us(&r->clock)) > 0) {
        return 0;
    }
    int rc = source_reader_step(r, change, err);
    if (rc == ERR_TRANSIENT) {
        change->kind = CHANGE_WAIT;
        return source_reader_lose(r, err);
    }
    if (rc == ERR_REJECTED && r->asked.reading > 0 && r->again.reading == 0 && !r->only_asked) {
        source_reader_refuse_asked(r, err);
        change->kind = CHANGE_WAIT;
        return 0;
    }
    if (rc < 0) {
        return source_reader_explain(r, err);
    }
    if (rc == 0 && (change->kind == CHANGE_PAGE || change->kind == CHANGE_PRESCAN_END)) {
        source_reader_end_page(r, change);
    } else if (rc == 0 && change->kind == CHANGE_SAFEPOINT) {
        source_reader_pass_mark(r, change);
    }
    return rc;
}

void source_reader_release_source(struct source_reader *r, const char *position,
                                  const char *letters, bool now)
{
    struct err err;
    struct mirror mirror = {position, r->ticks.ceiling, letters};
    if (r->capture != NULL && r->reading != SOURCE_READER_PAGE &&
        r->capture->ops->release(r->capture, &mirror, now, &err) < 0) {
        log_err(LOG_WARN, "release_failed", NULL, &err);
        source_reader_close(r);
    }
    source_reader_report_unpruned(r);
}
