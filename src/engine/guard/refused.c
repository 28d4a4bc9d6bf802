/* SPDX-License-Identifier: Apache-2.0 */
/* Counts refusals of single documents, each checked with a witness. */
#include "guard/refused.h"

#include "rowferry/document/bulk/encode.h"

#define WITNESSED_FROM 2  /* number of refusals */
#define WITNESS_VERSION 1 /* lower than all our versions, so it deletes nothing that we wrote */

/* Adds witnesses. `page` of a witness holds the index of the operation it is for. */
void refused_accompany(struct batch *b)
{
    size_t count = b->count;
    if (b->creates || batch_in_flight(b) < count) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char key[KEY_LONG_MAX_BYTES];
        size_t len = b->operations[i].key_len;
        struct refusal refusal;
        if (b->operations[i].refused < WITNESSED_FROM || len > sizeof(key)) {
            continue;
        }
        memcpy(key, batch_key(b, &b->operations[i]).data, len); /* the buffer may move */
        if (!encode_delete(b, span_make(key, len), WITNESS_VERSION, i, &refusal)) {
            return; /* no room: retry with the next request */
        }
        b->operations[b->count - 1].witness = true;
    }
}

/* The shard accepted a witness if it has no document, or a newer one. */
static void refused_take_witnesses(struct batch *b)
{
    size_t count = b->count;
    while (count > 0 && b->operations[count - 1].witness) {
        const struct operation *o = &b->operations[--count];
        b->operations[o->page].witnessed =
            o->outcome == OUTCOME_DONE || o->outcome == OUTCOME_CONFLICT;
    }
    batch_truncate(b, count);
}

static bool refused_took_it(const struct operation *o)
{
    return o->outcome == OUTCOME_DONE && o->kind == OPERATION_UPSERT && o->http_status < 300;
}

static bool refused_itself(const struct operation *o)
{
    return o->outcome == OUTCOME_RETRY && o->kind == OPERATION_UPSERT &&
           (o->http_status == 429 || o->http_status >= 500);
}

static bool refused_service_is_busy(int status)
{
    return status == 429 || (status >= 502 && status <= 504);
}

/* Counts one more refusal. Returns true if the service accepted something else in the same
 * period. */
static bool refused_count_refusal(const struct batch *b, struct operation *o, uint64_t before,
                                  uint64_t passed, bool known)
{
    if (o->refused == 0) {
        o->passed = before;
    }
    bool others = passed > o->passed || known;
    bool counts = b->creates ? others && !refused_service_is_busy(o->http_status) : o->witnessed;
    if (counts || o->refused < WITNESSED_FROM) {
        o->refused++;
    } else if (!b->creates) {
        o->refused = WITNESSED_FROM;
    }
    if (b->creates) {
        o->passed = passed;
    }
    o->witnessed = false;
    return others && counts;
}

size_t refused_judge(struct batch *b, const struct hashset *open, uint64_t *passed)
{
    bool answered = b->http_status == 200 && b->failure.class == ERR_NONE;
    uint64_t before = *passed;
    size_t alone = 0;
    refused_take_witnesses(b);
    size_t in_flight = answered ? batch_in_flight(b) : 0;
    for (size_t i = 0; i < in_flight; i++) {
        *passed += refused_took_it(&b->operations[i]);
    }
    for (size_t i = 0; i < in_flight; i++) {
        struct operation *o = &b->operations[i];
        if (!refused_itself(o)) {
            continue;
        }
        struct span key = batch_key(b, o);
        bool known = open != NULL && hashset_has(open, text_hash(key.data, key.len));
        if (!refused_count_refusal(b, o, before, *passed, known)) {
            continue;
        }
        if (o->refused >= REFUSED_TIMES) {
            o->outcome = OUTCOME_REJECTED;
        } else {
            alone++;
        }
    }
    return alone;
}
