/* SPDX-License-Identifier: Apache-2.0 */
/* Queries to the source between two pages; they may stay unanswered. */
#include "pipeline/source_reader.h"

bool intake_reads_log(const struct intake *r)
{
    return r->page != 0 && r->asking == 0 && !r->sifting && r->rereading == 0;
}

static bool between_pages(const struct intake *r)
{
    return r->capture != NULL && (r->reading == INTAKE_IDLE || r->reading == INTAKE_DRAINED);
}

bool intake_copies(const struct intake *r)
{
    struct capture_progress copy = {.share = 1};
    if (r->capture != NULL) {
        r->capture->ops->progress(r->capture, &copy);
    }
    return copy.share < 1;
}

/* Returns true if the query was answered. A lost connection is found again by the next poll or
 * page. Any other failure is permanent. */
static bool answered(int rc, bool *never)
{
    *never = rc < 0 && rc != ERR_TRANSIENT;
    return rc == 0;
}

bool intake_hold(struct intake *r, struct hold *out, bool *never)
{
    struct err ignored;
    if (!between_pages(r)) {
        return false;
    }
    if (r->capture->ops->hold == NULL) {
        *never = true;
        return false;
    }
    return answered(r->capture->ops->hold(r->capture, out, &ignored), never);
}

bool intake_waiting(struct intake *r, int64_t *changes, bool *never)
{
    struct err ignored;
    if (!between_pages(r)) {
        return false;
    }
    if (r->capture->ops->waiting == NULL) {
        *never = true;
        return false;
    }
    return answered(r->capture->ops->waiting(r->capture, changes, &ignored), never);
}
