/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A man in the middle: forwards HTTP requests to a service on loopback, and does with each what the
 * test decides.
 *
 * One thread a connection, store and forward: a request is read whole, carried out, and answered,
 * unless the fault says otherwise. Of the bulk requests it counts how many were there and how many
 * at the same time, from the last byte of the request to the first of the answer.
 */
#ifndef ROWFERRY_TESTS_PROXY_H
#define ROWFERRY_TESTS_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROXY_WHOLE SIZE_MAX

/* What becomes of one request; begins as "nothing". */
struct proxy_fault {
    size_t cut_request; /* so many bytes of head and body are taken, then the connection ends */
    bool early;         /* the answer comes then, while the client still sends */
    bool withheld;      /* the service never sees the request */
    const char *answer; /* instead of the service's; null: the service's */
    size_t answer_len;
    const char *endless; /* said again and again after the answer, until the client goes */
    size_t cut_answer;   /* so many bytes of the answer are sent, then the connection ends */
    bool trailers;       /* the service's answer comes in a chunk, with a trailer behind it */
    bool close;          /* the connection ends after the answer */
    bool reset;          /* where it ends, it ends with a reset */
    int64_t byte_ms;     /* the answer comes a byte at a time with this pause */
    int64_t delay_ms;    /* before the answer */
    int64_t late_ms;     /* before the service sees the request */
};

struct proxy_request {
    bool bulk;
    size_t number; /* of this kind: the first is 0 */
    size_t head_len, body_len;
    const char *head; /* NUL-terminated */
};

/* Called for each request once its head is there, one call at a time. */
typedef void (*proxy_decide)(void *context, const struct proxy_request *request,
                             struct proxy_fault *fault);

struct proxy; /* opaque */

struct proxy *proxy_start(int service_port, proxy_decide decide, void *context);
/* Ends every connection and every thread. */
void proxy_stop(struct proxy *p);

int proxy_port(const struct proxy *p);

/* Down: refuses connections and resets those that are there, until it is up again. */
void proxy_down(struct proxy *p);
void proxy_up(struct proxy *p);

/* Bulk requests that have come, and how many were under way at the same time at most. */
size_t proxy_bulks(struct proxy *p);
size_t proxy_bulks_at_once(struct proxy *p);
/* The same at this moment. */
size_t proxy_bulks_now(struct proxy *p);

/* Whether nobody is connected, and nothing that came is under way any more. */
bool proxy_idle(struct proxy *p);

#endif
