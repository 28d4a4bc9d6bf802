/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the five documents, and refuses other requests. */
#include "answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "metrics.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/host.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/record.h"
#include "rowferry/serve/health.h"

#define FRESH_US INT64_C(900000)
#define NONCE "@NONCE@"

static const char plain_policy[] = "default-src 'none'; frame-ancestors 'none'";

static void answer_look(struct answerer *a)
{
    for (size_t i = 0; i < a->options->count; i++) {
        status_snapshot_look(a->options->snapshots[i], &a->views[i]);
    }
}

static void answer_metrics(struct answerer *a, struct serve_answer *out)
{
    struct process process = {.started_s = (double)a->started_us / 1e6};
    process_look(&process);
    out->type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_push(&out->body, a->views, a->options->count, &process,
                 clock_wall_us(&a->options->clock));
}

static void answer_healthz(struct answerer *a, struct serve_answer *out)
{
    const struct serve_options *o = a->options;
    for (size_t i = 0; i < o->count; i++) {
        int64_t silent_ms = o->silent_ms(o->context, i);
        if (silent_ms > o->silent_most_ms) {
            out->status = 503;
            buf_printf(&out->body, "%s: no sign of life for %" PRId64 " s\n", a->views[i].name,
                       silent_ms / 1000);
        }
    }
    if (out->status == 200) {
        buf_push_literal(&out->body, "ok\n");
    }
}

static void answer_readyz(struct answerer *a, struct serve_answer *out)
{
    struct buf lines;
    buf_init(&lines, ANSWER_MAX_BYTES);
    for (size_t i = 0; i < a->options->count; i++) {
        const struct status_snapshot_view *v = &a->views[i];
        if (!health_ready(v)) {
            out->status = 503;
        }
        buf_printf(&lines, "%s%s: ", health_ready(v) ? "" : "not ready: ", v->name);
        health_push_words(&lines, v);
        buf_push_char(&lines, '\n');
    }
    buf_push_text(&out->body, out->status == 200 ? "ready\n" : "not ready\n");
    buf_push_text(&out->body, buf_text(&lines));
    buf_release(&lines);
}

/* Describes the pipelines, unless this was done less than a second ago: many clients must not cause
 * as many reads of the state file. */
static void answer_describe(struct answerer *a)
{
    int64_t now = clock_monotonic_us(&a->options->clock);
    if (a->described_us != 0 && now - a->described_us < FRESH_US) {
        return;
    }
    a->described_us = now;
    buf_reset(&a->pipelines);
    for (size_t i = 0; i < a->options->count; i++) {
        buf_push_text(&a->pipelines, i > 0 ? "," : "");
        a->options->describe(a->options->context, i, &a->views[i], &a->pipelines);
    }
}

static void answer_status(struct answerer *a, const struct question *q, struct serve_answer *out)
{
    char started[CLOCK_ISO_BYTES];
    char now[CLOCK_ISO_BYTES];
    bool ready = true;
    answer_describe(a);
    for (size_t i = 0; i < a->options->count; i++) {
        ready = ready && health_ready(&a->views[i]);
    }
    out->type = "application/json";
    buf_printf(&out->body,
               "{\"version\":\"" ROWFERRY_VERSION "\",\"pid\":%ld,\"started\":\"%s\",\"now\":\"%"
               "s\",\"ready\":%s",
               (long)getpid(), clock_iso(started, a->started_us, 3),
               clock_iso(now, clock_wall_us(&a->options->clock), 3), ready ? "true" : "false");
    record_text(&out->body, "source", a->options->source);
    record_text(&out->body, "service", a->options->service);
    buf_printf(&out->body, ",\"pipelines\":[%s],\"events\":", buf_text(&a->pipelines));
    events_push(a->events, q->since, &out->body);
    if (q->samples != NULL) {
        record_name(&out->body, "history");
        history_push(a->history, strtoull(q->samples, NULL, 10), &out->body);
    }
    buf_push_literal(&out->body, "}\n");
}

/* Sends the page. Script and style are allowed by a random nonce only. */
static void answer_page(struct answerer *a, struct serve_answer *out)
{
    char nonce[33];
    const char *text = embed_text(serve_html, "page");
    snprintf(nonce, sizeof(nonce), "%016" PRIx64 "%016" PRIx64, clock_random(&a->options->clock),
             clock_random(&a->options->clock));
    snprintf(out->policy, sizeof(out->policy),
             "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; connect-src 'self'; "
             "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             nonce, nonce);
    out->type = "text/html; charset=utf-8";
    for (const char *at = strstr(text, NONCE); at != NULL; at = strstr(text, NONCE)) {
        buf_push(&out->body, text, (size_t)(at - text));
        buf_push_text(&out->body, nonce);
        text = at + strlen(NONCE);
    }
    buf_push_text(&out->body, text);
}

static void answer_refuse(struct serve_answer *out, unsigned code, const char *words)
{
    out->status = code;
    buf_push_text(&out->body, words);
}

static void answer_find(struct answerer *a, const struct question *q, struct serve_answer *out)
{
    answer_look(a);
    if (strcmp(q->path, "/") == 0) {
        answer_page(a, out);
    } else if (strcmp(q->path, "/status") == 0) {
        answer_status(a, q, out);
    } else if (strcmp(q->path, "/metrics") == 0) {
        answer_metrics(a, out);
    } else if (strcmp(q->path, "/healthz") == 0) {
        answer_healthz(a, out);
    } else if (strcmp(q->path, "/readyz") == 0) {
        answer_readyz(a, out);
    } else {
        answer_refuse(out, 404, "there are /, /status, /metrics, /healthz and /readyz\n");
    }
}

void answer_question(struct answerer *a, const struct question *q, struct serve_answer *out)
{
    *out = (struct serve_answer){.status = 200, .type = "text/plain; charset=utf-8"};
    snprintf(out->policy, sizeof(out->policy), "%s", plain_policy);
    buf_init(&out->body, ANSWER_MAX_BYTES);
    if (strcmp(q->method, "GET") != 0 && strcmp(q->method, "HEAD") != 0) {
        out->allow = "GET, HEAD";
        answer_refuse(out, 405, "this only answers GET and HEAD\n");
    } else if (!host_is_ours(q->host, a->names, a->name_count)) {
        answer_refuse(out, 421,
                      "unknown Host: use the address, localhost, or a name in "
                      "\"listen_names\" of the configuration\n");
    } else {
        answer_find(a, q, out);
    }
    if (out->body.failed) {
        buf_reset(&out->body);
        answer_refuse(out, 500, "the answer is too large\n");
    }
}

void answer_init(struct answerer *a, const struct serve_options *options, struct events *events,
                 struct history *history)
{
    *a = (struct answerer){.options = options, .events = events, .history = history};
    a->started_us = clock_wall_us(&options->clock);
    a->views = mem_zero(options->count, sizeof(*a->views));
    buf_init(&a->pipelines, ANSWER_MAX_BYTES / 2);
    (void)gethostname(a->hostname, sizeof(a->hostname) - 1); /* on error it is empty and matches no
                                                              * name */
    a->names = mem_zero(options->name_count + 2, sizeof(*a->names));
    a->names[a->name_count++] = options->listen;
    a->names[a->name_count++] = a->hostname;
    for (size_t i = 0; i < options->name_count; i++) {
        a->names[a->name_count++] = options->names[i];
    }
}

void answer_release(struct answerer *a)
{
    buf_release(&a->pipelines);
    free(a->names);
    free(a->views);
}
