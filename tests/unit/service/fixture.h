/* SPDX-License-Identifier: Apache-2.0 */
/* A service whose base URL is a scripted server. */
#pragma once

#include <stdint.h>

#include "rowferry/service/http/http.h"
#include "scripted.h"

#define ANSWER_BYTES 32768

/* Long timeouts for tests in which none should occur, even if the machine is suspended for a
 * while. */
#define FIXTURE_PATIENT_MS 60000

/* Writes an answer with this status and JSON body into out[ANSWER_BYTES]. Returns out. */
static inline const char *answer_of(char *out, int status, const char *body)
{
    int n = snprintf(out, ANSWER_BYTES,
                     "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     status, strlen(body), body);
    ck_assert_int_lt(n, ANSWER_BYTES);
    return out;
}

struct fixture {
    struct scripted *server;
    struct service *service;
    char url[2][64];
    const char *urls[2];
    struct service_options options;
    struct http_answer answer;
    struct err err;
};

static inline void connect_to(struct fixture *f, size_t urls)
{
    f->options.urls = f->urls;
    f->options.url_count = urls;
    if (f->options.connect_timeout_ms == 0) {
        f->options.connect_timeout_ms = FIXTURE_PATIENT_MS;
    }
    f->options.in_flight = 2;
    if (f->options.request_timeout_ms == 0) {
        f->options.request_timeout_ms = FIXTURE_PATIENT_MS;
    }
    ck_assert_int_eq(http_service_open(&f->service, &f->options, &f->err), 0);
}

static inline void point(struct fixture *f, size_t i, int port)
{
    snprintf(f->url[i], sizeof(f->url[i]), "http://127.0.0.1:%d/", port);
    f->urls[i] = f->url[i];
}

static inline void start(struct fixture *f, const char *const *answers, size_t cut)
{
    f->server = scripted_start(answers, cut, false);
    point(f, 0, f->server->port);
    connect_to(f, 1);
}

static inline void stop(struct fixture *f)
{
    http_answer_release(&f->answer);
    http_service_close(f->service);
    if (f->server != NULL) {
        scripted_stop(f->server);
    }
}
