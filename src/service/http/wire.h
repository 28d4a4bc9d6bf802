/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only module that turns libcurl's wheels: handles with their options, starting a request,
 * moving bytes, and which request is finished.
 */
#ifndef ROWFERRY_SERVICE_WIRE_H
#define ROWFERRY_SERVICE_WIRE_H

#include "http/service.h"

/* libcurl's own set-up, once for the process. False where it has no TLS or no memory. */
bool wire_set_up(void);

/* Makes a slot's handle. accept_compressed: bulks do without, their answers are short and many, and
 * their bodies long. */
bool wire_open_slot(struct service *s, struct slot *slot, bool accept_compressed);
void wire_close_slot(struct service *s, struct slot *slot);

/* Starts slot->method on slot->path at the service's present base URL. body: borrowed until the
 * slot is finished; null = none. */
int wire_start(struct slot *slot, const struct curl_slist *headers, const struct span *body,
               struct err *err) MUST_CHECK;

/* Moves what can be moved without waiting; slots that ended have `finished` set, and bulks
 * are queued in the order in which they ended. */
int wire_move(struct service *s, struct err *err) MUST_CHECK;

/* Waits until a request can go on, fd (-1 = none) is readable, or timeout_ms passed. */
int wire_wait(struct service *s, int fd, int64_t timeout_ms, bool *readable,
              struct err *err) MUST_CHECK;

#endif
