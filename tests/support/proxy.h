/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proxy that forwards HTTP requests to a service on loopback, and applies to each the fault that
 * the test chooses.
 *
 * It has one thread per connection. It reads a complete request, forwards it, and returns the
 * answer, unless the fault differs. It counts the bulk requests, and how many overlapped, from the
 * last byte of the request to the first of the answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROXY_WHOLE SIZE_MAX

/* The fault of one request; initially none. */
struct proxy_fault {
    size_t cut_request; /* closes the connection after this many bytes of head and body */
    bool early;         /* then sends the answer while the client is still sending */
    bool withheld;      /* the service does not receive the request */
    const char *answer; /* replaces the service's answer; null: the service's */
    size_t answer_len;
    const char *endless; /* repeated after the answer until the client disconnects */
    size_t cut_answer;   /* closes the connection after this many bytes of the answer */
    bool trailers;       /* the service's answer is sent as one chunk, followed by a trailer */
    bool close;          /* the connection is closed after the answer */
    bool reset;          /* closes connections with a reset */
    int64_t byte_ms;     /* sends the answer byte by byte with this pause */
    int64_t delay_ms;    /* delay before the answer */
    int64_t late_ms;     /* delay before the service receives the request */
};

struct proxy_request {
    bool bulk;
    size_t number; /* counts requests of this kind from 0 */
    size_t head_len, body_len;
    const char *head; /* NUL-terminated */
};

/* Called for each request when its head has arrived, one call at a time. */
typedef void (*proxy_decide)(void *context, const struct proxy_request *request,
                             struct proxy_fault *fault);

struct proxy; /* opaque */

struct proxy *proxy_start(int service_port, proxy_decide decide, void *context);
/* Ends all connections and threads. */
void proxy_stop(struct proxy *p);

int proxy_port(const struct proxy *p);

/* While down, refuses connections and resets the open ones. */
void proxy_down(struct proxy *p);
void proxy_up(struct proxy *p);

/* Total number of bulk requests, and the maximum number at the same time. */
size_t proxy_bulks(struct proxy *p);
size_t proxy_bulks_at_once(struct proxy *p);
/* The number of bulk requests at this moment. */
size_t proxy_bulks_now(struct proxy *p);

/* Returns true if no client is connected and no request is in progress. */
bool proxy_idle(struct proxy *p);
