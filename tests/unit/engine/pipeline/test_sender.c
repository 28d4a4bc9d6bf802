/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which batches are sent. */
#include "pipeline/sender.h"

#include <stdio.h>

#include "suite.h"

#define ROUNDS 20

/* A service that answers one request at a time, in order of arrival. */
struct port {
    struct batch *flying;
    char sent[ROUNDS + 2]; /* per request, the first letter of its first key */
    size_t count;
};

static bool can_send(const struct service *self)
{
    (void)self;
    return true;
}

static int send(struct service *self, const char *index, const char *ingest_pipeline,
                struct batch *batch, struct err *err)
{
    (void)index;
    (void)ingest_pipeline;
    (void)err;
    struct port *p = (void *)self;
    p->flying = batch;
    p->sent[p->count++] = batch_key(batch, &batch->operations[0]).data[0];
    return 0;
}

static struct batch *take(struct service *self)
{
    struct port *p = (void *)self;
    struct batch *b = p->flying;
    p->flying = NULL;
    return b;
}

static int settle(void *context, const struct batch *batch, const struct operation *o,
                  struct err *err)
{
    (void)context;
    (void)batch;
    (void)o;
    (void)err;
    return 0;
}

static void fill(struct sender *s, char letter)
{
    struct batch *b = sender_filling(s);
    ck_assert_ptr_nonnull(b);
    (void)batch_begin(b, OPERATION_DELETE, (struct span){&letter, 1}, 1, 0);
    buf_push(&b->bytes, "{}\n", 3);
    ck_assert(batch_commit(b));
    sender_flush(s);
}

static void answer(struct sender *s, struct port *p, const struct clock *clock)
{
    struct sender_news news;
    struct err err;
    p->flying->http_status = 200;
    p->flying->operations[0].outcome = OUTCOME_DONE;
    ck_assert_int_eq(sender_collect(s, clock, settle, NULL, &news, &err), 0);
}

/* With one permitted request batches queue up; each must be sent in its turn. */
START_TEST(a_batch_goes_before_those_that_were_filled_after_it)
{
    static const struct service_port_ops ops = {
        .bulk = {.can_send = can_send, .send = send, .take = take}};
    struct port p = {0};
    struct counters counters = {0};
    const struct clock clock = clock_system();
    struct sender s;
    struct err err;
    char expected[ROUNDS + 1] = {0};
    sender_init(&s, &(struct sender_options){3, 1000000, 100000, 100, {0}, false},
                (struct service_port){&ops, (void *)&p}, &counters);
    flow_init(&s.flow, &(struct flow_ceilings){1, 1000000});
    fill(&s, 'a');
    fill(&s, 'b');
    fill(&s, 'c');
    for (int i = 0; i < ROUNDS; i++) {
        expected[i] = (char)('a' + i);
        ck_assert_int_eq(sender_pump(&s, clock_monotonic_us(&clock), &err), 0);
        answer(&s, &p, &clock);
        fill(&s, (char)('d' + i));
    }
    ck_assert_str_eq(p.sent, expected);
    sender_release(&s);
}
END_TEST

SUITE_MAIN("engine/sender", a_batch_goes_before_those_that_were_filled_after_it)
