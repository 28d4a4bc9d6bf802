/* SPDX-License-Identifier: Apache-2.0 */
/* Queries to the source between two pages, which may stay unanswered, and keys to be read next. */
#include "core/source_reader.h"

#include <stdlib.h>

#include "rowferry/base/log.h"

bool source_reader_reads_log(const struct source_reader *r)
{
    return r->page != 0 && r->asked.reading == 0 && !r->missing.reading && r->again.reading == 0;
}

static bool source_reader_ask_between_pages(const struct source_reader *r)
{
    return r->capture != NULL &&
           (r->reading == SOURCE_READER_IDLE || r->reading == SOURCE_READER_DRAINED);
}

bool source_reader_copies(const struct source_reader *r)
{
    struct capture_progress copy = {.share = 1};
    if (r->capture != NULL) {
        r->capture->ops->progress(r->capture, &copy);
    }
    return copy.share < 1;
}

/* Returns true if the query was answered. A lost connection is found again by the next poll or
 * page. Any other failure is permanent. */
static bool source_reader_ask_answered(int rc, bool *never)
{
    *never = rc < 0 && rc != ERR_TRANSIENT;
    return rc == 0;
}

bool source_reader_ask_xmin_holder(struct source_reader *r, struct xmin_holder *out, bool *never)
{
    struct err ignored;
    if (!source_reader_ask_between_pages(r)) {
        return false;
    }
    const struct capture_ops *ops = r->capture->ops;
    int rc = ops->hold != NULL ? ops->hold(r->capture, out, &ignored) : ERR_REJECTED;
    return source_reader_ask_answered(rc, never);
}

bool source_reader_waiting(struct source_reader *r, int64_t *changes, bool *never)
{
    struct err ignored;
    if (!source_reader_ask_between_pages(r)) {
        return false;
    }
    const struct capture_ops *ops = r->capture->ops;
    int rc = ops->waiting != NULL ? ops->waiting(r->capture, changes, &ignored) : ERR_REJECTED;
    return source_reader_ask_answered(rc, never);
}

int source_reader_fd(const struct source_reader *r)
{
    return r->capture != NULL && r->reading == SOURCE_READER_PAGE ? r->capture->ops->fd(r->capture)
                                                                  : -1;
}

int source_reader_idle_fd(const struct source_reader *r)
{
    return r->capture != NULL && r->reading == SOURCE_READER_DRAINED
               ? r->capture->ops->fd(r->capture)
               : -1;
}

void source_reader_ask(struct source_reader *r, struct span key)
{
    if (r->asked.count == 0 && r->asked.reading == 0) {
        r->asked.first = r->asked.last = 0;
        free(r->asked.error);
        r->asked.error = NULL;
    }
    r->asked.keys = mem_grow(r->asked.keys, r->asked.count + 1, sizeof(*r->asked.keys));
    r->asked.keys[r->asked.count++] = span_make(text_copy_span(key), key.len);
}

bool source_reader_was_asked(const struct source_reader *r, uint64_t page)
{
    return r->asked.first != 0 && page >= r->asked.first && page <= r->asked.last;
}

bool source_reader_forget_consumer(struct source_reader *r, const char *consumer)
{
    struct err err;
    if (r->capture == NULL || r->reading == SOURCE_READER_PAGE) {
        return false;
    }
    int rc = r->capture->ops->forget(r->capture, consumer, &err);
    if (rc < 0) {
        log_err(LOG_WARN, "forget_failed", NULL, &err);
    }
    return rc == 0;
}
