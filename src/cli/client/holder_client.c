/* SPDX-License-Identifier: Apache-2.0 */
/* Files requests to the lock holder and follows them. */
#include "client/holder_client.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/log.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/engine/pipeline/requests.h"

#define LOOK_MS 100
#define HOLD_US INT64_C(1000000)
#define REPLY_MAX_BYTES ((size_t)64 * 1024)
#define LINE_BYTES 4096

/* What becomes of a request without a reply. */
enum left {
    LEFT_FILED,     /* it stays filed, and the next holder carries it out */
    LEFT_WITHDRAWN, /* it is withdrawn */
    LEFT_TAKEN,     /* withdrawn on a stop unless the holder has taken it; a new holder takes it */
};

static const struct client_row {
    const char *request;
    enum left left;
    const char *refused; /* the message if the reply gives no reason */
} rows[] = {
    {REQUEST_RESYNC, LEFT_FILED, "the request failed"},
    {REQUEST_DISCARD, LEFT_FILED, "the request failed"},
    {REQUEST_ALLOW_DELETES, LEFT_WITHDRAWN, "the holder did not permit it"},
    {REQUEST_ALLOW_REJECTIONS, LEFT_WITHDRAWN, "the holder did not permit it"},
    {REQUEST_TRY_AGAIN, LEFT_WITHDRAWN, "the holder did not try again"},
    {REQUEST_PAUSE, LEFT_WITHDRAWN, "the request failed"},
    {REQUEST_RESUME, LEFT_WITHDRAWN, "the request failed"},
    {REQUEST_REINDEX, LEFT_TAKEN, "the request failed"},
    {REQUEST_ROLLBACK, LEFT_TAKEN, "the request failed"},
    {REQUEST_ABORT_REBUILD, LEFT_TAKEN, "the request failed"},
};

static const struct client_row *holder_client_row(const struct holder_client *c)
{
    size_t i = 0;
    while (strcmp(rows[i].request, c->request) != 0) {
        i++;
    }
    return &rows[i];
}

int holder_client_file(struct holder_client *c, const char *arguments, struct err *err)
{
    c->ids = mem_grow(c->ids, c->count + 1, sizeof(*c->ids));
    int rc = request_file(c->session->state, c->request, arguments,
                          clock_wall_us(&c->session->clock), &c->ids[c->count], err);
    c->count += rc == 0;
    return rc;
}

/* --- replies -------------------------------------------------------------------------------- */

int64_t holder_reply_number(const struct holder_reply *reply, const char *name)
{
    return json_object_get_int64(json_tree_member(reply->answer, name));
}

/* Keeps the reason and hint that the first failed reply gives. */
static void holder_client_keep_refusal(struct holder_client *c, struct json_object *answer)
{
    const char *why = json_object_get_string(json_tree_member(answer, "error"));
    const char *hint = json_object_get_string(json_tree_member(answer, "hint"));
    if (c->refused.class != ERR_NONE) {
        return;
    }
    err_set(&c->refused, ERR_STATE, "%s", why != NULL ? why : holder_client_row(c)->refused);
    if (hint != NULL) {
        err_hint(&c->refused, "%s", hint);
    }
}

/* Looks at the first request without a reply. *final: it has one now. */
static int holder_client_look_at(struct holder_client *c, bool *final, struct err *err)
{
    struct buf text;
    struct holder_reply reply = {.state = REQUEST_FILED};
    buf_init(&text, REPLY_MAX_BYTES);
    int rc = request_look(c->session->state, c->ids[c->answered], &reply.state, &text, err);
    if (rc == 0) {
        reply.final = reply.state == REQUEST_DONE || reply.state == REQUEST_FAILED;
        reply.text = buf_text(&text);
        reply.answer = json_tree_of(reply.text);
        c->taken = reply.state == REQUEST_TAKEN;
        if (reply.state == REQUEST_FAILED) {
            holder_client_keep_refusal(c, reply.answer);
        }
        rc = c->take(c->context, &reply, err);
        json_object_put(reply.answer);
    }
    *final = rc == 0 && reply.final;
    buf_release(&text);
    return rc;
}

int holder_client_look(struct holder_client *c, struct err *err)
{
    bool final = true;
    while (final && c->answered < c->count) {
        int rc = holder_client_look_at(c, &final, err);
        if (rc < 0) {
            return rc;
        }
        c->answered += final;
    }
    if (c->answered == c->count && c->refused.class != ERR_NONE) {
        *err = c->refused;
        return (int)err->class;
    }
    return 0;
}

int holder_client_mark(struct holder_client *c, enum request_state state, const char *answer,
                       struct err *err)
{
    const struct session *s = c->session;
    int rc = 0;
    for (size_t i = c->answered; rc == 0 && i < c->count; i++) {
        rc = request_answer(s->state, c->ids[i], state, answer, clock_wall_us(&s->clock), err);
    }
    return rc;
}

int holder_client_withdraw(struct holder_client *c, const char *why, struct err *err)
{
    const struct session *s = c->session;
    int rc = 0;
    for (size_t i = c->answered; rc == 0 && i < c->count; i++) {
        rc = request_refuse(s->state, c->ids[i], why, "", clock_wall_us(&s->clock), err);
    }
    return rc;
}

/* --- waiting -------------------------------------------------------------------------------- */

static int holder_client_stop(struct holder_client *c, struct err *err)
{
    enum left left = holder_client_row(c)->left;
    c->stopped = true;
    return left == LEFT_FILED || (left == LEFT_TAKEN && c->taken)
               ? 0
               : holder_client_withdraw(c, "withdrawn", err);
}

/* Becomes the holder if there is none any more. Returns ERR_HELD if there is. */
static int holder_client_hold(struct holder_client *c, struct err *err)
{
    int rc = c->holding ? 0 : session_hold(c->session, err);
    if (rc == ERR_HELD && !c->followed) {
        c->followed = true;
        log_event(LOG_INFO, "request_filed", F_TEXT("pipeline", c->session->pipeline->name),
                  F_TEXT("command", c->request), F_INT("keys", c->keys),
                  F_TEXT("message", err->message));
    }
    c->holding = c->holding || rc == 0;
    /* the previous holder may have answered just before it ended */
    rc = rc == 0 ? holder_client_look(c, err) : rc;
    if (rc < 0 || c->answered == c->count) {
        return rc;
    }
    enum left left = holder_client_row(c)->left;
    return left == LEFT_TAKEN       ? holder_client_mark(c, REQUEST_TAKEN, "{}", err)
           : left == LEFT_WITHDRAWN ? holder_client_withdraw(c, "withdrawn", err)
                                    : 0;
}

static void holder_client_show(struct holder_client *c)
{
    struct buf line;
    if (c->progress == NULL || !c->progress->wanted) {
        return;
    }
    buf_init(&line, LINE_BYTES);
    buf_push_text(&line, c->taken ? "the holder works on it" : "waiting for the holder");
    if (c->show != NULL) {
        c->show(c->context, &line);
    }
    progress_line_show(c->progress, c->session->pipeline->name, buf_text(&line));
    buf_release(&line);
}

int holder_client_follow(struct holder_client *c, struct err *err)
{
    int64_t hold_us = 0;
    for (;;) {
        int rc = holder_client_look(c, err);
        if (rc < 0 || c->answered == c->count) {
            return rc;
        }
        if (*c->stop != 0) {
            return holder_client_stop(c, err);
        }
        int64_t now = clock_monotonic_us(&c->session->clock);
        if (now >= hold_us) {
            hold_us = now + HOLD_US;
            rc = holder_client_hold(c, err);
            if (rc != ERR_HELD) {
                return rc;
            }
        }
        holder_client_show(c);
        clock_sleep(LOOK_MS, c->stop);
    }
}

void holder_client_reset(struct holder_client *c)
{
    c->count = 0;
    c->answered = 0;
}

void holder_client_release(struct holder_client *c)
{
    free(c->ids);
    c->ids = NULL;
}
