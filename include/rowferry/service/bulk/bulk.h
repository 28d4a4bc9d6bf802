/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bulk requests: several in flight, each settled item by item.
 *
 * A batch that is sent belongs to the service until bulk_take gives it back with the outcome of
 * every operation set. Nothing here retries: the caller decides. An answer that did not arrive
 * whole, cannot be read, or has another number of items leaves every operation UNKNOWN (or RETRY,
 * STOP, REJECTED where the status of the whole request says so), with batch->failure filled.
 * A whole request refused as such (batch->http_status 400 or 413) is REJECTED where it carried one
 * operation; of several each is RETRY: send them in smaller parts, down to one.
 */
#ifndef ROWFERRY_SERVICE_BULK_H
#define ROWFERRY_SERVICE_BULK_H

#include "rowferry/document/bulk/batch.h"
#include "rowferry/service/http/http.h"

/* True while another request may start (options.in_flight). */
bool bulk_can_send(const struct service *s);

/* Sends to POST /<index>/_bulk (a generation: by its write alias, see index.h) what travels of the
 * batch (send_limit); pipeline null = none. The batch is borrowed until it is taken; operations
 * that did not travel are left as they were. */
int bulk_send(struct service *s, const char *index, const char *ingest_pipeline,
              struct batch *batch, struct err *err) MUST_CHECK;

/* The next batch that has its outcomes, or null. */
struct batch *bulk_take(struct service *s);

/* Moves bytes; waits until something happens on a request, fd (-1 = none) is readable, or
 * timeout_ms passed. *readable says whether fd was. */
int bulk_wait(struct service *s, int fd, int64_t timeout_ms, bool *readable,
              struct err *err) MUST_CHECK;

#endif
