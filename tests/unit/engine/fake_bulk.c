/* SPDX-License-Identifier: Apache-2.0 */
/* A service in memory: versions decide, a judge may refuse, answers arrive at the next wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_private.h"
#include "suite.h"

bool fake_bulk_can_send(const struct service *self)
{
    const struct fake *f = (const void *)self;
    return f->in_flight < f->max_in_flight;
}

size_t fake_key_row(struct span key)
{
    char text[32];
    snprintf(text, sizeof(text), "%.*s", (int)key.len, key.data);
    return (size_t)strtoul(text + 1, NULL, 10);
}

static bool flies(const struct fake *f, size_t row)
{
    for (size_t i = 0; i < f->in_flight; i++) {
        const struct batch *b = f->flying[i];
        for (size_t j = 0; j < batch_in_flight(b); j++) {
            if (fake_key_row(batch_key(b, &b->operations[j])) == row) {
                return true;
            }
        }
    }
    return false;
}

/* A repeated operation must have its old version, any other a higher one than ever before. */
static void note_version(struct fake *f, size_t row, const struct operation *o)
{
    if (o->witness) {
        return;
    }
    bool right = o->attempts > 0 ? o->version == f->sent[row] : o->version > f->sent[row];
    f->version_went_back |= !right;
    f->sent[row] = o->version;
}

/* Operations in flight must be in the window: read and not settled. */
static void expect_in_window(const struct fake *f, const struct batch *batch)
{
    size_t bytes = batch->bytes.len;
    for (size_t i = 0; i < batch->count; i++) {
        bytes -= batch->operations[i].witness ? batch->operations[i].len : 0;
    }
    for (size_t i = 0; i < f->in_flight; i++) {
        bytes += f->flying[i]->bytes.len;
    }
    ck_assert_uint_le(bytes, FAKE_WINDOW_BYTES);
}

int fake_bulk_send(struct service *self, const char *index, const char *ingest_pipeline,
                   struct batch *batch, struct err *err)
{
    (void)ingest_pipeline;
    (void)err;
    struct fake *f = fake_of(self);
    fake_step(f);
    ck_assert_str_eq(index, f->write_alias);
    ck_assert_uint_lt(f->in_flight, f->max_in_flight);
    (void)fake_look_at(f, f->written);
    expect_in_window(f, batch);
    for (size_t i = 0; i < batch_in_flight(batch); i++) {
        if (batch->operations[i].version > f->highest_sent) {
            f->highest_sent = batch->operations[i].version;
        }
        size_t row = fake_key_row(batch_key(batch, &batch->operations[i]));
        f->double_key |= flies(f, row);
        note_version(f, row, &batch->operations[i]);
    }
    for (size_t i = 0; i < batch_in_flight(batch); i++) {
        batch->operations[i].attempts++;
    }
    f->flying[f->in_flight++] = batch;
    return 0;
}

static long document_number(const struct batch *b, const struct operation *o)
{
    const char *n = memmem(b->bytes.data + o->offset, o->len, "\"n\":", 4);
    return n != NULL ? strtol(n + 4, NULL, 10) : -1;
}

static void apply(struct fake *f, const struct batch *b, struct operation *o)
{
    size_t row = fake_key_row(batch_key(b, o));
    struct fake_document *d = &f->documents[row];
    f->operations += !o->witness;
    if (o->witness && f->judge_witness != NULL) {
        o->outcome = f->judge_witness(f, "", 0);
        if (o->outcome != OUTCOME_DONE) {
            return;
        }
    } else if (f->judge != NULL && !o->witness) {
        char key[16];
        snprintf(key, sizeof(key), "k%zu", row);
        o->outcome = f->judge(f, key, f->attempts[row]++);
        o->http_status = o->outcome == OUTCOME_DONE ? 200 : f->judged_status;
        if (o->outcome != OUTCOME_DONE) {
            o->seen = d->version;
            return;
        }
    }
    if (d->version >= o->version) {
        bool ours = d->version == o->version && o->attempts > 1;
        o->outcome = ours ? OUTCOME_DONE : OUTCOME_CONFLICT;
        o->seen = d->version;
        return;
    }
    f->deleted += d->present && o->kind == OPERATION_DELETE;
    *d = (struct fake_document){
        .version = o->version, .n = document_number(b, o), .present = o->kind == OPERATION_UPSERT};
    o->outcome = OUTCOME_DONE;
}

size_t fake_dice(struct fake *f, size_t n)
{
    f->random = f->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(f->random >> 33) % n;
}

static void keep_for_later(struct fake *f, const struct batch *b)
{
    for (size_t i = 0; i < batch_in_flight(b); i++) {
        const struct operation *o = &b->operations[i];
        if (f->late_count < sizeof(f->late) / sizeof(f->late[0])) {
            f->late[f->late_count++] = (struct fake_late){fake_key_row(batch_key(b, o)),
                                                          f->serial,
                                                          {.version = o->version,
                                                           .n = document_number(b, o),
                                                           .present = o->kind == OPERATION_UPSERT}};
        }
    }
}

static void deliver(struct fake_document *documents, const struct fake_late *l)
{
    if (documents[l->row].version < l->document.version) {
        documents[l->row] = l->document;
    }
}

void fake_deliver(struct fake *f, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->late_count; i++) {
        const struct fake_late *l = &f->late[i];
        if (!all && fake_dice(f, 4) > 0) {
            f->late[kept++] = *l;
            continue;
        }
        if (l->serial == f->serial && f->index[0] != '\0') {
            deliver(f->documents, l);
        }
        for (size_t j = 0; j < FAKE_SHELF; j++) {
            if (l->serial == f->indices[j].serial && f->indices[j].index[0] != '\0') {
                deliver(f->indices[j].documents, l);
            }
        }
    }
    f->late_count = kept;
}

static void apply_all(struct fake *f, struct batch *b)
{
    for (size_t i = 0; i < batch_in_flight(b); i++) {
        apply(f, b, &b->operations[i]);
    }
}

/* Counts repeated conflicts: the version of a conflict must be stepped over. */
static void note_conflicts(struct fake *f, const struct batch *b)
{
    for (size_t i = 0; i < batch_in_flight(b); i++) {
        const struct operation *o = &b->operations[i];
        size_t row = fake_key_row(batch_key(b, o));
        if (o->outcome == OUTCOME_CONFLICT && !o->witness) {
            f->told_times[row] = f->told[row] == o->seen ? f->told_times[row] + 1 : 1;
            f->told[row] = o->seen;
            f->most_told = f->told_times[row] > f->most_told ? f->told_times[row] : f->most_told;
        }
    }
}

static void no_answer(struct batch *b)
{
    for (size_t i = 0; i < batch_in_flight(b); i++) {
        b->operations[i].outcome = OUTCOME_UNKNOWN;
    }
    err_set(&b->failure, ERR_TRANSIENT, "connection refused");
}

static void answer(struct fake *f, struct batch *b)
{
    enum fake_fault fault = f->fault != NULL ? f->fault(f) : FAULT_NONE;
    if (f->fail_requests > 0) {
        f->fail_requests--;
        fault = FAULT_LOST;
    }
    if (fault == FAULT_LATE) {
        keep_for_later(f, b);
    }
    if (fault == FAULT_NONE || fault == FAULT_UNANSWERED) {
        apply_all(f, b);
        b->http_status = 200;
    }
    if (fault != FAULT_NONE) {
        no_answer(b);
        return;
    }
    note_conflicts(f, b);
}

struct batch *fake_bulk_take(struct service *self)
{
    struct fake *f = fake_of(self);
    fake_step(f);
    if (f->in_flight == 0) {
        return NULL;
    }
    struct batch *b = f->flying[--f->in_flight];
    f->requests++;
    (void)fake_look_at(f, f->written);
    if (f->most_operations > 0 && batch_in_flight(b) > f->most_operations) {
        b->http_status = 413;
    } else {
        answer(f, b);
    }
    return b;
}
