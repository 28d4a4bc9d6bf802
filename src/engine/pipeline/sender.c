/* SPDX-License-Identifier: Apache-2.0 */
/* Moves batches through the states filling, ready, in flight and free. */
#include "pipeline/sender.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/refused.h"
#include "rowferry/base/ascii.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/index_block.h"

#define SENDER_BASE_MS 100
#define SENDER_MAX_MS 5000
#define SENDER_CUTS_HALVE 2
#define SENDER_CUTS_REFUSE 5

void sender_init(struct sender *s, const struct sender_options *options,
                 struct service_port service, struct counters *counters)
{
    *s = (struct sender){.service = service, .counters = counters};
    flow_init(&s->flow, &(struct flow_ceilings){options->in_flight, options->batch_bytes});
    s->slot_count = (size_t)options->in_flight + 1;
    s->slots = mem_zero(s->slot_count, sizeof(*s->slots));
    for (size_t i = 0; i < s->slot_count; i++) {
        batch_init(&s->slots[i].batch, options->batch_bytes, options->document_bytes,
                   options->batch_operations);
        s->slots[i].batch.routing = options->routing;
        s->slots[i].batch.creates = options->creates;
        backoff_init(&s->slots[i].backoff, SENDER_BASE_MS, SENDER_MAX_MS);
    }
}

void sender_release(struct sender *s)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        batch_release(&s->slots[i].batch);
    }
    free(s->slots);
}

size_t sender_in_flight(const struct sender *s)
{
    size_t in_flight = 0;
    for (size_t i = 0; i < s->slot_count; i++) {
        in_flight += s->slots[i].state == SLOT_IN_FLIGHT;
    }
    return in_flight;
}

int64_t sender_oldest_us(const struct sender *s)
{
    int64_t oldest_us = 0;
    for (size_t i = 0; i < s->slot_count; i++) {
        const struct sender_slot *slot = &s->slots[i];
        if (slot->state == SLOT_IN_FLIGHT && (oldest_us == 0 || slot->sent_us < oldest_us)) {
            oldest_us = slot->sent_us;
        }
    }
    return oldest_us;
}

static struct sender_slot *sender_slot_in(struct sender *s, enum sender_slot_state state)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].state == state) {
            return &s->slots[i];
        }
    }
    return NULL;
}

struct batch *sender_filling(struct sender *s)
{
    struct sender_slot *slot = sender_slot_in(s, SLOT_FILLING);
    if (slot == NULL) {
        slot = sender_slot_in(s, SLOT_FREE);
        if (slot == NULL) {
            return NULL;
        }
        slot->state = SLOT_FILLING;
        batch_reset(&slot->batch);
        slot->batch.full_bytes = flow_batch_bytes(&s->flow);
        backoff_reset(&slot->backoff);
        slot->cuts = 0;
        slot->cut_us = 0;
        slot->passed_bytes = 0;
    }
    return &slot->batch;
}

void sender_flush(struct sender *s)
{
    struct sender_slot *slot = sender_slot_in(s, SLOT_FILLING);
    if (slot != NULL && !batch_empty(&slot->batch)) {
        slot->state = SLOT_READY;
        slot->number = ++s->filled;
        slot->due_us = 0;
    }
}

static bool sender_may_start(const struct sender *s, int64_t now_us)
{
    return sender_in_flight(s) < flow_in_flight(&s->flow, now_us) &&
           s->service.ops->bulk.can_send(s->service.self);
}

static int sender_start(struct sender *s, struct sender_slot *slot, int64_t now_us, struct err *err)
{
    struct batch *b = &slot->batch;
    size_t operations = batch_in_flight(b);
    size_t bytes = batch_in_flight_bytes(b);
    refused_accompany(b);
    slot->limited = sender_in_flight(s) + 1 >= flow_in_flight(&s->flow, now_us);
    slot->sent_bytes = batch_in_flight_bytes(b);
    int rc = s->service.ops->bulk.send(s->service.self, s->write_alias, s->ingest_pipeline, b, err);
    if (rc < 0) {
        return rc;
    }
    slot->state = SLOT_IN_FLIGHT;
    slot->sent_us = now_us;
    s->counters->sent += (int64_t)operations;
    s->counters->bytes += (int64_t)bytes;
    return 0;
}

/* Returns the due batch that was filled first. Otherwise later batches could overtake it forever,
 * and the checkpoint would not move past it. */
static struct sender_slot *sender_first_due(struct sender *s, int64_t now_us)
{
    struct sender_slot *first = NULL;
    for (size_t i = 0; i < s->slot_count; i++) {
        struct sender_slot *slot = &s->slots[i];
        bool due = slot->state == SLOT_READY && slot->due_us <= now_us;
        if (due && (first == NULL || slot->number < first->number)) {
            first = slot;
        }
    }
    return first;
}

int sender_pump(struct sender *s, int64_t now_us, struct err *err)
{
    struct sender_slot *slot;
    while (sender_may_start(s, now_us) && (slot = sender_first_due(s, now_us)) != NULL) {
        int rc = sender_start(s, slot, now_us, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* Settles the operations that were sent. *repeats counts the ones to be sent again. */
static int sender_settle_all(struct sender *s, const struct batch *b, sender_settle settle,
                             void *context, size_t *repeats, struct err *err)
{
    size_t in_flight = batch_in_flight(b);
    for (size_t i = 0; i < in_flight; i++) {
        const struct operation *o = &b->operations[i];
        if (o->outcome == OUTCOME_UNKNOWN || o->outcome == OUTCOME_RETRY) {
            (*repeats)++;
            continue;
        }
        int rc = settle(context, b, o, err);
        if (rc < 0) {
            return rc;
        }
    }
    s->counters->retried += (int64_t)*repeats;
    return 0;
}

static void sender_refuse_for_size(struct batch *b)
{
    static const char type[] = "request_cut";
    static const char reason[] = "the connection was reset each time it was sent, while smaller "
                                 "requests passed: it is refused for its size";
    b->operations[0].outcome = OUTCOME_REJECTED;
    batch_set_reason(b, &b->operations[0], span_make(type, sizeof(type) - 1),
                     span_make(reason, sizeof(reason) - 1));
}

/* Returns true if a single operation is too large to pass. Requires that smaller requests passed
 * since the resets began and none as large; an outage would have hit those as well. */
static bool sender_too_large(const struct sender_slot *slot)
{
    return slot->cuts >= SENDER_CUTS_REFUSE && batch_in_flight(&slot->batch) == 1 &&
           slot->passed_bytes > 0 && slot->sent_bytes > slot->passed_bytes;
}

/* Handles a connection reset while sending: a proxy on the way may refuse large requests. Halves
 * the batch, and finally defers an operation that never passes, so that the others go first. */
static void sender_meet_cut(struct sender_slot *slot)
{
    size_t in_flight = batch_in_flight(&slot->batch);
    if (in_flight > 1 && slot->cuts >= SENDER_CUTS_HALVE) {
        slot->batch.send_limit = in_flight / 2;
        slot->cuts = 0;
    } else if (in_flight == 1 && slot->cuts >= SENDER_CUTS_REFUSE) {
        batch_defer_first(&slot->batch);
        slot->cuts = slot->batch.count > 1 ? 0 : slot->cuts;
    }
}

/* Counts resets, and records what other requests pass while a batch is being reset. */
static void sender_note_passage(struct sender *s, struct sender_slot *slot, int64_t now_us)
{
    slot->cuts = slot->batch.cut_off ? slot->cuts + 1 : 0;
    if (slot->batch.cut_off && slot->cut_us == 0) {
        slot->cut_us = now_us;
    }
    for (size_t i = 0; i < s->slot_count && slot->batch.http_status == 200; i++) {
        struct sender_slot *other = &s->slots[i];
        if (other->cut_us != 0 && slot->sent_us >= other->cut_us &&
            slot->sent_bytes > other->passed_bytes) {
            other->passed_bytes = slot->sent_bytes;
        }
    }
}

/* Schedules the rest of a batch: at once, or after a back-off if operations repeat. A request that
 * was answered may be larger the next time. A refused single document goes behind the others. */
static void sender_again(struct sender_slot *slot, const struct clock *clock, size_t repeats)
{
    bool limited = slot->batch.send_limit > 0 && slot->batch.http_status == 200;
    slot->state = SLOT_READY;
    slot->due_us = 0;
    if (repeats > 0) {
        int64_t wait_ms = backoff_next_ms(&slot->backoff, clock_random(clock));
        slot->due_us = clock_monotonic_us(clock) + wait_ms * 1000;
    }
    if (repeats > 0 && limited && slot->batch.send_limit == 1) {
        batch_defer_first(&slot->batch);
    }
    if (repeats == 0 || limited) {
        slot->batch.send_limit *= 2;
    }
}

/* The reason of an item begins with its error type. */
static void sender_take_type(struct err *failure, struct span reason)
{
    size_t len = 0;
    while (len < reason.len && len < sizeof(failure->service_type) - 1 &&
           (ascii_is_letter(reason.data[len]) || reason.data[len] == '_')) {
        len++;
    }
    snprintf(failure->service_type, sizeof(failure->service_type), "%.*s", (int)len, reason.data);
}

/* Sets *failure to the reason why a request settled nothing, from the request or its first
 * operation. */
static void sender_explain(const struct sender *s, const struct batch *b, struct err *failure)
{
    if (b->failure.class != ERR_NONE) {
        *failure = b->failure;
        failure->class = ERR_TRANSIENT;
        (void)index_block_hint(span_make(failure->detail, strlen(failure->detail)), s->index,
                               failure);
        return;
    }
    struct span reason = batch_reason(b, &b->operations[0]);
    err_set(failure, ERR_TRANSIENT, "the service refuses all operations for now: %d %.*s",
            b->operations[0].http_status, (int)reason.len, reason.data);
    http_hide_alias(failure->message);
    failure->http_status = b->operations[0].http_status;
    sender_take_type(failure, reason);
    (void)index_block_hint(reason, s->index, failure);
}

static int sender_take_back(struct sender *s, struct sender_slot *slot, const struct clock *clock,
                            sender_settle settle, void *context, size_t *repeats, struct err *err)
{
    struct batch *b = &slot->batch;
    bool refused = b->http_status == 413 || b->http_status == 400; /* size, or one operation */
    if (refused && batch_in_flight(b) > 1) {
        b->send_limit = batch_in_flight(b) / 2;
        slot->state = SLOT_READY;
        slot->due_us = 0;
        return 0;
    }
    if (sender_too_large(slot)) {
        sender_refuse_for_size(b);
        slot->cuts = 0;
    }
    int rc = sender_settle_all(s, b, settle, context, repeats, err);
    if (rc < 0) {
        return rc;
    }
    batch_keep_unsettled(b);
    if (batch_empty(b)) {
        slot->state = SLOT_FREE;
    } else {
        if (*repeats > 0) {
            sender_meet_cut(slot);
        }
        sender_again(slot, clock, *repeats);
    }
    return 0;
}

static int64_t sender_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Derives the flow's verdict from a response. Returns false if the response shows nothing about
 * load, such as a whole request refused for its content (400). */
static bool sender_verdict(const struct batch *b, enum flow_verdict *verdict)
{
    if (b->http_status == 0 || (b->http_status == 200 && b->failure.class != ERR_NONE)) {
        *verdict = FLOW_LOST;
    } else if (b->http_status == 200) {
        *verdict = FLOW_WELL;
    } else if (b->http_status == 413) {
        *verdict = FLOW_OVERSIZE;
    } else if (b->http_status == 429 || b->http_status >= 500) {
        *verdict = b->short_of_memory ? FLOW_LOST : FLOW_REFUSED;
    } else {
        return false;
    }
    return true;
}

static void sender_report_flow(struct sender *s, const struct sender_slot *slot,
                               enum flow_verdict verdict, int64_t now_us)
{
    struct flow_answer answer = {.verdict = verdict,
                                 .sent_us = slot->sent_us,
                                 .now_us = now_us,
                                 .bytes = slot->sent_bytes,
                                 .limited = slot->limited,
                                 .retry_after_ms = slot->batch.retry_after_ms};
    flow_answered(&s->flow, &answer);
}

int sender_collect(struct sender *s, const struct clock *clock, sender_settle settle, void *context,
                   struct sender_news *news, struct err *err)
{
    struct batch *b;
    *news = (struct sender_news){0};
    while ((b = s->service.ops->bulk.take(s->service.self)) != NULL) {
        struct sender_slot *slot = (struct sender_slot *)b; /* its first member */
        s->counters->requests++;
        size_t alone = refused_judge(b, s->open_letters, &s->passed);
        size_t in_flight = batch_in_flight(b);
        size_t repeats = 0;
        struct err why;
        sender_note_passage(s, slot, clock_monotonic_us(clock));
        sender_explain(s, b, &why);
        enum flow_verdict verdict = FLOW_WELL;
        bool told = sender_verdict(b, &verdict);
        int rc = sender_take_back(s, slot, clock, settle, context, &repeats, err);
        if (rc < 0) {
            return rc;
        }
        if (told) {
            bool refused = verdict == FLOW_WELL && repeats > alone;
            sender_report_flow(s, slot, refused ? FLOW_REFUSED : verdict,
                               clock_monotonic_us(clock));
        }
        news->settled += in_flight - repeats + alone;
        if (repeats == in_flight && alone < repeats) {
            news->failure = why;
            news->failure_by_us = sender_later(news->failure_by_us, slot->sent_us);
        } else {
            news->settled_by_us = sender_later(news->settled_by_us, slot->sent_us);
        }
    }
    return 0;
}

void sender_hurry(struct sender *s)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        s->slots[i].due_us = 0;
        backoff_reset(&s->slots[i].backoff);
    }
}

int64_t sender_next_due_us(const struct sender *s, int64_t now_us)
{
    int64_t due = INT64_MAX;
    int64_t pause_us = flow_due_us(&s->flow, now_us);
    if (pause_us == 0 && !sender_may_start(s, now_us)) {
        return due;
    }
    for (size_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].state == SLOT_READY && s->slots[i].due_us < due) {
            due = s->slots[i].due_us;
        }
    }
    return due == INT64_MAX ? due : sender_later(due, pause_us);
}
