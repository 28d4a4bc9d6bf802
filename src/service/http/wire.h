/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only module that drives libcurl: handles and their options, starting requests, transferring
 * data, and detecting finished requests.
 */
#pragma once

#include "http/service.h"

/* Initialises libcurl once per process. Returns false if it has no TLS or no memory. */
bool wire_set_up(void);

/* Creates a slot's handle. Bulk requests do not use accept_compressed: their answers are short and
 * many, their bodies long. */
bool wire_open_slot(struct service *s, struct slot *slot, bool accept_compressed);
void wire_close_slot(struct service *s, struct slot *slot);

/* Starts slot->method on slot->path at the current base URL. body may be null; it is borrowed until
 * the slot is finished. */
int wire_start(struct slot *slot, const struct curl_slist *headers, const struct span *body,
               struct err *err) MUST_CHECK;

/* Transfers data without waiting. Sets `finished` in completed slots and queues bulk requests in
 * order of completion. */
int wire_move(struct service *s, struct err *err) MUST_CHECK;

/* Waits until a request can continue, fd is readable (-1 = none) or timeout_ms have passed. */
int wire_wait(struct service *s, int fd, int64_t timeout_ms, bool *readable,
              struct err *err) MUST_CHECK;
