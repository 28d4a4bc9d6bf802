/* SPDX-License-Identifier: Apache-2.0 */
/* Starts bulk requests and sets the outcome of every operation. */
#include "rowferry/service/bulk/bulk.h"

#include <string.h>

#include "http/body.h"
#include "http/fault.h"
#include "http/secret.h"
#include "http/wire.h"
#include "rowferry/service/bulk/answer.h"
#include "rowferry/service/bulk/outcome.h"

#define SERVER_MARGIN_MS 5000 /* the service times out earlier by this margin */
#define SERVER_LEAST_MS 1000
#define RETRY_AFTER_MOST_S 86400

bool bulk_can_send(const struct service *s)
{
    return s->in_flight < s->options.in_flight;
}

/* Returns a slot that is neither in flight nor waiting for bulk_take, or null. */
static struct slot *bulk_free_slot(struct service *s)
{
    for (size_t i = 1; i < s->slot_count; i++) {
        if (s->slots[i].batch == NULL) {
            return &s->slots[i];
        }
    }
    return NULL;
}

/* Returns the service's own timeout. It must expire before ours; otherwise we would repeat work
 * that the service still completes. */
static int64_t bulk_server_timeout_s(const struct service_options *o)
{
    int64_t ms = o->request_timeout_ms - SERVER_MARGIN_MS;
    return (ms > SERVER_LEAST_MS ? ms : SERVER_LEAST_MS) / 1000;
}

static void bulk_push_path(struct buf *out, const struct service *s, const char *index,
                           const char *ingest_pipeline)
{
    buf_reset(out);
    buf_push_char(out, '/');
    text_percent(out, index, strlen(index));
    buf_printf(out,
               "/_bulk?filter_path=items.*._index,items.*._id,items.*.status,items.*.error,"
               "items.*.failure_store&timeout=%llds%s",
               (long long)bulk_server_timeout_s(&s->options), product_bulk_query(&s->product));
    if (ingest_pipeline != NULL) {
        buf_push_literal(out, "&pipeline=");
        text_percent(out, ingest_pipeline, strlen(ingest_pipeline));
    }
}

int bulk_send(struct service *s, const char *index, const char *ingest_pipeline,
              struct batch *batch, struct err *err)
{
    struct slot *slot = bulk_can_send(s) ? bulk_free_slot(s) : NULL;
    if (slot == NULL || batch_empty(batch)) {
        return err_set(err, ERR_INTERNAL,
                       "cannot send a bulk request: it is empty, or too many are in flight");
    }
    slot->method = "POST";
    bulk_push_path(&slot->path, s, index, ingest_pipeline);
    batch->http_status = 0;
    batch->failure = (struct err){0};
    batch->retry_after_ms = 0;
    batch->short_of_memory = false;
    batch->cut_off = false;
    if (slot->reader.answer == NULL) {
        slot->reader = (struct body_reader){answer_new(), answer_feed, answer_free};
    }
    answer_begin(slot->reader.answer, batch, index);
    struct span body = span_make(buf_text(&batch->bytes), batch_in_flight_bytes(batch));
    int rc = wire_start(slot, s->bulk_headers, &body, err);
    if (rc != 0) {
        return rc;
    }
    slot->batch = batch;
    s->in_flight++;
    size_t in_flight = batch_in_flight(batch);
    for (size_t i = 0; i < in_flight; i++) {
        batch->operations[i].attempts++;
    }
    return 0;
}

static void bulk_set_outcome(struct batch *b, enum outcome outcome)
{
    size_t in_flight = batch_in_flight(b);
    for (size_t i = 0; i < in_flight; i++) {
        b->operations[i].outcome = outcome;
        b->operations[i].http_status = (int)b->http_status;
    }
}

/* Rejects the only operation of a refused request; the refusal becomes its reason. */
static void bulk_reject_single(struct slot *slot, struct batch *b)
{
    struct json_object *tree =
        slot->answer.json ? body_parse(&slot->answer.body, BODY_ERROR) : NULL;
    struct body_error error = body_error(tree);
    const char *reason = error.reason[0] != '\0' ? error.reason : b->failure.message;
    const char *type = error.type[0] != '\0' ? error.type : "request_refused";
    batch_set_reason(b, &b->operations[0], span_make(type, strlen(type)),
                     span_make(reason, strlen(reason)));
    json_object_put(tree);
}

/* Returns true if the body names a circuit breaker, which opens before memory runs out. Both
 * products use this name. */
static bool bulk_names_breaker(const struct slot *slot)
{
    const struct buf *body = &slot->answer.body;
    return span_contains(span_make(body->data, body->len), "circuit_breaking_exception");
}

static int64_t bulk_retry_after_ms(const struct slot *slot)
{
    curl_off_t seconds = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RETRY_AFTER, &seconds);
    return seconds > 0 && seconds < RETRY_AFTER_MOST_S ? (int64_t)seconds * 1000 : 0;
}

/* Settles a request whose status is not 200. One bad operation fails the whole request, so a
 * refusal proves nothing about each of several operations. They are RETRY, to be sent in parts. */
static void bulk_settle_refused(struct slot *slot, struct batch *b)
{
    (void)http_refuse(&slot->answer, slot->method, buf_text(&slot->path), &b->failure);
    enum outcome outcome = outcome_of_request(slot->answer.status, b->failure.service_type);
    if ((outcome == OUTCOME_REJECTED && batch_in_flight(b) > 1) || secret_renewed(slot)) {
        outcome = OUTCOME_RETRY;
    }
    b->retry_after_ms = bulk_retry_after_ms(slot);
    b->short_of_memory = slot->answer.status == 429 && bulk_names_breaker(slot);
    bulk_set_outcome(b, outcome);
    if (outcome == OUTCOME_REJECTED) {
        bulk_reject_single(slot, b);
    }
}

/* Some proxies reset the connection if a request is too large, without an answer. */
static bool bulk_was_cut_off(const struct slot *slot)
{
    curl_off_t sent = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    return slot->answer.status == 0 && sent > 0 &&
           (slot->result == CURLE_SEND_ERROR || slot->result == CURLE_RECV_ERROR);
}

/* Settles a request whose connection failed. Failed verification is fatal; any other failure is
 * worth a retry. */
static void bulk_settle_lost(struct slot *slot, struct batch *b)
{
    int class = fault_explain(slot, &b->failure);
    b->http_status = 0;
    b->cut_off = bulk_was_cut_off(slot);
    /* parts of an answer may have been read already: they are not believed */
    answer_begin(slot->reader.answer, b, NULL);
    bulk_set_outcome(b, class == ERR_TRANSIENT ? OUTCOME_UNKNOWN : OUTCOME_FATAL);
}

static void bulk_settle(struct slot *slot)
{
    struct batch *b = slot->batch;
    b->http_status = (unsigned)slot->answer.status;
    if (slot->result != CURLE_OK) {
        bulk_settle_lost(slot, b);
    } else if (slot->answer.status != 200) {
        bulk_settle_refused(slot, b);
    } else if (answer_end(slot->reader.answer, &b->failure) != 0) {
        char place[HTTP_PLACE_BYTES];
        b->failure.http_status = 200;
        err_context(&b->failure, "%s",
                    http_place(place, slot->method, buf_text(&slot->path), slot->answer.origin));
    }
    /* the refusal of an item may quote credentials, like that of a request */
    secret_mask(slot->service, b->reasons.data, b->reasons.len);
}

struct batch *bulk_take(struct service *s)
{
    struct slot *slot = s->first_ended;
    if (slot == NULL) {
        return NULL;
    }
    s->first_ended = slot->next;
    if (s->first_ended == NULL) {
        s->last_ended = NULL;
    }
    struct batch *batch = slot->batch;
    bulk_settle(slot);
    slot->batch = NULL;
    s->in_flight--;
    return batch;
}

int bulk_wait(struct service *s, int fd, int64_t timeout_ms, bool *readable, struct err *err)
{
    int rc = wire_move(s, err);
    if (rc == 0) {
        rc = wire_wait(s, fd, s->first_ended != NULL ? 0 : timeout_ms, readable, err);
    }
    return rc == 0 ? wire_move(s, err) : rc;
}
