/* SPDX-License-Identifier: Apache-2.0 */
/* Derives a cause from the facts. */
#include "rowferry/engine/observe/stall.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/base/text.h"

#define TRIED_AGAIN "it is tried again within a minute, and at once with "

static const struct cause_row {
    const char *name;
    const char *remedy;
    const char *command; /* follows the remedy, with the name of the pipeline; null: none */
} rows[STALL_COUNT] = {
    [STALL_NONE] = {"", NULL, NULL},
    [STALL_STATE_FILE] = {"state_file",
                          "free space on the disk of the state file, or correct its "
                          "permissions; the work continues by itself",
                          NULL},
    [STALL_LOCK] = {"lock",
                    "end the other holder, or wait until the source has noticed that a "
                    "lost session is gone",
                    NULL},
    [STALL_GUARD] = {"guard", "restore the rows or correct the mapping; what can be permitted: ",
                     "rowferry check"},
    [STALL_REBUILD] = {"rebuild", "wait for the rebuild, or ", "rowferry reindex --abort"},
    [STALL_STOPPED] = {"stopped", "correct what it names: " TRIED_AGAIN, "rowferry resume"},
    [STALL_SOURCE] = {"source_away", "make sure that the source answers: ", "rowferry check"},
    [STALL_SERVICE] = {"service_away", "make sure that the service answers: ", "rowferry check"},
    [STALL_REFUSED] = {"service_refuses",
                       "find out why the service accepts nothing (load, disk, blocks): ",
                       "rowferry check"},
    [STALL_UNREADABLE] = {"service_unreadable",
                          "make sure that service.url names the service, and that a proxy before "
                          "it changes no answer",
                          NULL},
    [STALL_UNANSWERED] = {"service_unanswered", "find out what the service is busy with", NULL},
    [STALL_SILENT] = {"source_unanswered",
                      "find out what the source is busy with: a slow query, a lock, its disk",
                      NULL},
    [STALL_WATERMARK] = {"watermark", "end the transaction that is open in the source", NULL},
    [STALL_UNKNOWN] = {"unknown", "read the log of both servers, and run ", "rowferry check"},
};

const char *stall_name(enum stall_cause cause)
{
    return rows[cause].name;
}

void stall_push_remedy(struct buf *out, const struct live_progress *w, const char *pipeline)
{
    for (int i = STALL_NONE + 1; i < STALL_COUNT; i++) {
        if (strcmp(rows[i].name, w->stall) == 0) {
            bool hint = w->stall_hint[0] != '\0';
            buf_push_text(out, hint ? w->stall_hint : rows[i].remedy);
            buf_push_text(out, hint ? "; " TRIED_AGAIN : "");
            if (rows[i].command != NULL) {
                buf_printf(out, "%s %s", rows[i].command, pipeline);
            }
        }
    }
}

/* --- progress -------------------------------------------------------------------------------- */

/* Returns true if a retry is not progress until it is committed. */
static bool stall_must_be_firm(enum stall_cause cause)
{
    return cause >= STALL_STATE_FILE && cause <= STALL_STOPPED;
}

/* Counts restart at zero in each round, which is not progress. */
static bool stall_grows(uint64_t *count, uint64_t now)
{
    bool more = now > *count;
    *count = now;
    return more;
}

/* Returns true if there was progress, as required for the current cause. */
static bool stall_gets_on(struct stall *s, const struct stall_facts *f)
{
    bool moved = stall_grows(&s->moved, f->moved);
    bool firm = stall_grows(&s->firm, f->firm);
    bool worked = stall_grows(&s->worked, f->worked);
    if (stall_must_be_firm(s->cause)) {
        return firm;
    }
    return moved || firm || (worked && s->cause == STALL_NONE);
}

/* --- why ------------------------------------------------------------------------------------- */

static enum stall_cause stall_service_cause(const struct stall_facts *f)
{
    return f->service_status == 0     ? STALL_SERVICE
           : f->service_status == 200 ? STALL_UNREADABLE
                                      : STALL_REFUSED;
}

/* Returns the first cause that existed before the last progress or began before it. */
static enum stall_cause stall_cause_of(const struct stall_facts *f, int64_t moved_at_us)
{
    if (f->stopped != STALL_NONE) {
        return f->stopped;
    }
    if (f->source_away_us != 0) {
        return STALL_SOURCE;
    }
    if (f->service_away_us != 0) {
        return stall_service_cause(f);
    }
    if (f->unanswered_us != 0 && f->now_us - f->unanswered_us >= STALL_AFTER_US / 2) {
        return STALL_UNANSWERED;
    }
    if (f->silent_us != 0 && f->now_us - f->silent_us >= STALL_AFTER_US / 2) {
        return STALL_SILENT;
    }
    if (f->watermark_us != 0 && f->watermark_us <= moved_at_us) {
        return STALL_WATERMARK;
    }
    return STALL_UNKNOWN;
}

static const char *stall_or_nothing(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "no reason given";
}

/* Returns what a status that is retried may mean. */
static const char *stall_meaning(int status)
{
    return status == 429   ? " (too much, or a full disk)"
           : status == 403 ? " (a block on writes)"
                           : "";
}

static void stall_push_reason(struct stall *s, const struct stall_facts *f)
{
    char text[STALL_WHY_BYTES * 4] = "";
    switch (f->stopped != STALL_NONE ? STALL_NONE : s->cause) {
    case STALL_SOURCE:
        snprintf(text, sizeof(text), "the source is unreachable: %s",
                 stall_or_nothing(f->source_why));
        break;
    case STALL_SERVICE:
        snprintf(text, sizeof(text), "the service is unreachable: %s",
                 stall_or_nothing(f->service_why));
        break;
    case STALL_REFUSED: {
        bool words = f->service_why != NULL && f->service_why[0] != '\0';
        snprintf(text, sizeof(text), "the service accepts nothing: it answers %d%s%s%s",
                 f->service_status, stall_meaning(f->service_status), words ? ": " : "",
                 words ? f->service_why : "");
        break;
    }
    case STALL_UNREADABLE:
        snprintf(text, sizeof(text), "an answer of the service cannot be read: %s",
                 stall_or_nothing(f->service_why));
        break;
    case STALL_UNANSWERED:
        snprintf(text, sizeof(text), "the service has not answered for %lld s",
                 (long long)((f->now_us - f->unanswered_us) / 1000000));
        break;
    case STALL_SILENT:
        snprintf(text, sizeof(text), "the source has not answered for %lld s",
                 (long long)((f->now_us - f->silent_us) / 1000000));
        break;
    case STALL_WATERMARK:
        snprintf(text, sizeof(text), "an old transaction is open in the source: %s",
                 stall_or_nothing(f->watermark));
        break;
    case STALL_UNKNOWN:
        snprintf(text, sizeof(text), "no progress, and neither server gives a reason");
        break;
    default:
        snprintf(text, sizeof(text), "%s", stall_or_nothing(f->why));
        break;
    }
    snprintf(s->why, sizeof(s->why), "%.*s", (int)text_cut(text, strlen(text), sizeof(s->why) - 1),
             text);
}

void stall_explain_away(const struct stall_facts *f, char why[STALL_WHY_BYTES])
{
    struct stall s = {.cause = f->source_away_us != 0 ? STALL_SOURCE : stall_service_cause(f)};
    if (f->source_away_us != 0 || f->service_away_us != 0) {
        stall_push_reason(&s, f);
    }
    snprintf(why, STALL_WHY_BYTES, "%s", s.why);
}

/* --- judging --------------------------------------------------------------------------------- */

static enum stall_news stall_end(struct stall *s)
{
    bool was = s->cause != STALL_NONE;
    s->before = was ? s->cause : s->before;
    s->cause = STALL_NONE;
    s->why[0] = s->hint[0] = '\0';
    return was ? STALL_ENDED : STALL_SAME;
}

/* Returns true if a retry neither made progress nor met a new problem, so that the stall
 * persists. */
static bool stall_stays(const struct stall *s, const struct stall_facts *f)
{
    return stall_must_be_firm(s->cause) && f->stopped == STALL_NONE && f->source_away_us == 0 &&
           f->service_away_us == 0;
}

static enum stall_news stall_begin_or_go_on(struct stall *s, const struct stall_facts *f)
{
    enum stall_cause before = s->cause;
    s->cause = stall_cause_of(f, s->moved_at_us);
    stall_push_reason(s, f);
    snprintf(s->hint, sizeof(s->hint), "%s", f->hint != NULL ? f->hint : "");
    if (before == STALL_NONE) {
        s->since_us = f->wall_us - (f->stopped != STALL_NONE ? 0 : f->now_us - s->moved_at_us);
        return STALL_BEGAN;
    }
    return s->cause == before ? STALL_SAME : STALL_CHANGED;
}

void stall_begin(struct stall *s, int64_t now_us)
{
    if (s->cause == STALL_NONE) {
        s->moved_at_us = now_us;
    }
}

enum stall_news stall_judge(struct stall *s, const struct stall_facts *f)
{
    bool on = stall_gets_on(s, f) || !s->begun || f->paused;
    bool rests = !f->waits && !stall_must_be_firm(s->cause);
    s->begun = true;
    if (f->stopped == STALL_NONE && (on || rests)) {
        s->moved_at_us = f->now_us;
        return stall_end(s);
    }
    if (stall_stays(s, f)) {
        return STALL_SAME;
    }
    bool lasting = f->service_away_us != 0 && f->source_away_us == 0 && f->service_lasting;
    bool due = f->stopped != STALL_NONE || lasting || f->now_us - s->moved_at_us >= STALL_AFTER_US;
    return due ? stall_begin_or_go_on(s, f) : STALL_SAME;
}

/* --- reporting ------------------------------------------------------------------------------- */

void stall_show(const struct stall *s, struct live_progress *w)
{
    snprintf(w->stall, sizeof(w->stall), "%s", stall_name(s->cause));
    snprintf(w->stall_why, sizeof(w->stall_why), "%s", s->why);
    snprintf(w->stall_hint, sizeof(w->stall_hint), "%s", s->hint);
    w->stall_us = s->cause != STALL_NONE ? s->since_us : 0;
}

void stall_log(const struct stall *s, enum stall_news news, const char *pipeline, int64_t wall_us)
{
    int64_t for_ms = (wall_us - s->since_us) / 1000;
    if (stall_must_be_firm(news == STALL_ENDED ? s->before : s->cause)) {
        return;
    }
    if (news == STALL_ENDED) {
        log_event(LOG_INFO, "goes_on", F_TEXT("pipeline", pipeline), F_INT("stalled_ms", for_ms));
    } else if (news != STALL_SAME) {
        log_event(LOG_WARN, "stalled", F_TEXT("pipeline", pipeline),
                  F_TEXT("cause", stall_name(s->cause)), F_INT("for_ms", for_ms),
                  F_TEXT("why", s->why));
    }
}
