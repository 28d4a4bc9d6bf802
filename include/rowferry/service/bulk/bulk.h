/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bulk requests: several in flight, each settled item by item.
 *
 * bulk_send lends a batch to the service until bulk_take returns it with the outcome of every
 * operation set. Nothing is retried here: the caller decides. An answer is unusable if it is
 * incomplete, unreadable or has the wrong number of items. Every operation is then UNKNOWN, or
 * RETRY, STOP or REJECTED if the HTTP status decides it, and batch->failure describes the failure.
 * If the service refuses a whole request (batch->http_status 400 or 413), a single operation is
 * REJECTED. Several operations are RETRY: the caller sends them in smaller parts, down to one.
 */
#pragma once

#include "rowferry/document/bulk/batch.h"
#include "rowferry/service/http/http.h"

/* Returns true while another request may start (options.in_flight). */
bool bulk_can_send(const struct service *s);

/* Posts the first part of the batch (up to send_limit) to /<index>/_bulk. For a generation, index
 * is its write alias (index.h). ingest_pipeline may be null. The batch is borrowed until bulk_take
 * returns it. Operations beyond send_limit keep their state. */
int bulk_send(struct service *s, const char *index, const char *ingest_pipeline,
              struct batch *batch, struct err *err) MUST_CHECK;

/* Returns the next batch whose outcomes are set, or null. */
struct batch *bulk_take(struct service *s);

/* Transfers data and waits until a request makes progress, fd is readable or timeout_ms have
 * passed. fd may be -1. Sets *readable if fd is readable. */
int bulk_wait(struct service *s, int fd, int64_t timeout_ms, bool *readable,
              struct err *err) MUST_CHECK;
