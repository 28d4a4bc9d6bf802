/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes the rows into the trial's index, one bulk request at a time. */
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/clock.h"
#include "rowferry/document/bulk/encode.h"
#include "rowferry/service/bulk/bulk.h"
#include "validate/validate_private.h"

#define TRY_MS 200
#define WAIT_MS 1000
#define BULKS 8
#define BULK_LEAST 25

struct filling {
    struct validating *v;
    struct batch batch;
    int64_t version;
    size_t refused;
    bool average; /* first pass: the random rows, which represent the table; then all others */
    bool *seen;   /* by index in the sample: the row was read */
};

static const char mend[] = "correct the value, or give the property a type that can hold it: in "
                           "the initial load such a row becomes a dead letter";

static size_t validate_fill_log_of(size_t bytes)
{
    size_t n = 0;
    while (bytes > 1 && n + 1 < VALIDATE_SIZES) {
        bytes >>= 1;
        n++;
    }
    return n;
}

/* --- one bulk request ------------------------------------------------------------------------ */

static int validate_fill_travel(struct filling *f, struct err *err)
{
    struct service *s = f->v->ports->service;
    bool readable;
    int rc = bulk_send(s, f->v->trial.write_alias, f->v->options->ingest_pipeline, &f->batch, err);
    while (rc == 0 && bulk_take(s) == NULL) {
        rc = bulk_wait(s, -1, WAIT_MS, &readable, err);
    }
    return rc;
}

static void validate_fill_note_bulk(struct filling *f, int64_t bytes, int64_t documents,
                                    int64_t took_us)
{
    struct validate_figures *g = &f->v->report->figures;
    if (g->bulk_count < VALIDATE_BULKS) {
        g->bulks[g->bulk_count++] = (struct validate_bulk){bytes, documents, took_us};
    }
    if (!f->average) {
        return;
    }
    if (g->bulk_count == 2) { /* the first one was a warm-up */
        g->sent.took_us = g->sent.documents = g->sent.bytes = 0;
    }
    g->sent.took_us += took_us;
    g->sent.documents += documents;
    g->sent.bytes += bytes;
}

/* Returns the number of operations to repeat. *stop receives an operation with a fatal outcome. */
static size_t validate_fill_settle(struct filling *f, const struct operation **stop)
{
    size_t again = 0;
    *stop = NULL;
    for (size_t i = 0; i < f->batch.count; i++) {
        const struct operation *o = &f->batch.operations[i];
        struct span key = batch_key(&f->batch, o);
        struct span reason = batch_reason(&f->batch, o);
        size_t row;
        bool known = sample_find(f->v->sample, key, &row);
        if (o->outcome == OUTCOME_DONE && known) {
            f->v->indexed[row] = true;
        } else if (o->outcome == OUTCOME_FATAL) {
            *stop = o;
        } else if (o->outcome == OUTCOME_REJECTED) {
            f->refused++;
            validate_note(f->v, VALIDATE_FAIL, mend, "row with key \"%.*s\": %.*s", (int)key.len,
                          key.data, (int)reason.len, reason.data);
        } else if (o->outcome != OUTCOME_CONFLICT) {
            again++;
        }
    }
    return again;
}

static int validate_fill_give_up(const struct filling *f, struct err *err)
{
    if (f->batch.failure.class != ERR_NONE) {
        *err = f->batch.failure;
        return (int)err->class;
    }
    return err_set(err, ERR_TRANSIENT, "could not index documents in \"%s\" in time",
                   f->v->trial.index);
}

static int validate_fill_stopped(const struct filling *f, const struct operation *o,
                                 struct err *err)
{
    struct span reason = batch_reason(&f->batch, o);
    return f->batch.failure.class != ERR_NONE
               ? validate_fill_give_up(f, err)
               : err_set(err, ERR_REJECTED, "cannot index documents in \"%s\": %.*s",
                         f->v->trial.index, (int)reason.len, reason.data);
}

/* Sends until all operations are settled or the retry budget is exhausted. */
static int validate_fill_send(struct filling *f, struct err *err)
{
    const struct clock *clock = &f->v->ports->clock;
    int64_t until_us = clock_monotonic_us(clock) + f->v->options->retry_budget_ms * 1000;
    int rc = 0;
    while (rc == 0 && !batch_empty(&f->batch)) {
        const struct operation *stop = NULL;
        int64_t began_us = clock_monotonic_us(clock);
        int64_t bytes = (int64_t)batch_in_flight_bytes(&f->batch);
        int64_t count = (int64_t)f->batch.count;
        rc = validate_fill_travel(f, err);
        size_t again = rc == 0 ? validate_fill_settle(f, &stop) : 0;
        int64_t now_us = clock_monotonic_us(clock);
        if (rc == 0 && stop != NULL) {
            rc = validate_fill_stopped(f, stop, err);
        } else if (rc == 0 && again == 0) {
            validate_fill_note_bulk(f, bytes, count, now_us - began_us);
            batch_reset(&f->batch);
        } else if (rc == 0 && now_us > until_us) {
            rc = validate_fill_give_up(f, err);
        } else if (rc == 0) {
            batch_keep_unsettled(&f->batch);
            clock_sleep(TRY_MS, NULL);
        }
    }
    return rc;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void validate_fill_note_refusal(struct filling *f, const struct row *row,
                                       const struct refusal *refusal)
{
    bool column = refusal->column != NULL;
    f->refused++;
    validate_note(f->v, VALIDATE_FAIL, mend, "row with key \"%.*s\": %s%s%s%s%s%s%s",
                  (int)row->values[0].len, row->values[0].null ? "" : row->values[0].text,
                  column ? "column \"" : "", column ? refusal->column : "", column ? "\": " : "",
                  refusal->reason, refusal->beginning[0] != '\0' ? ": \"" : "", refusal->beginning,
                  refusal->beginning[0] != '\0' ? "\"" : "");
}

static void validate_fill_note_size(struct filling *f, size_t row, size_t bytes)
{
    struct validate_figures *g = &f->v->report->figures;
    enum stratum stratum = sample_stratum(f->v->sample, row);
    g->strata[stratum]++;
    g->sizes[validate_fill_log_of(bytes)]++;
    g->json_bytes += (int64_t)bytes;
    if (stratum == STRATUM_CHANCE) {
        g->random.json_bytes += (int64_t)bytes;
        g->random.documents++;
    }
}

/* Returns the size of the last document without its action line. */
static size_t validate_fill_document_bytes(const struct batch *b)
{
    const struct operation *o = &b->operations[b->count - 1];
    const char *line = b->bytes.data + o->offset;
    const char *end = memchr(line, '\n', o->len);
    return end != NULL ? o->len - (size_t)(end - line) - 1 : 0;
}

static int validate_fill_take_row(struct filling *f, const struct row *row, struct err *err)
{
    size_t place;
    struct refusal refusal = {0};
    struct span key = span_make(row->values[0].text, row->values[0].len);
    const struct plan *plan = sample_plan(f->v->sample);
    if (row->values[0].null || !sample_find(f->v->sample, key, &place) ||
        (sample_stratum(f->v->sample, place) == STRATUM_CHANCE) != f->average) {
        return 0;
    }
    f->seen[place] = true;
    if (!encode_upsert(&f->batch, plan, row, f->version, 1, &refusal)) {
        validate_fill_note_refusal(f, row, &refusal);
        return 0;
    }
    validate_fill_note_size(f, place, validate_fill_document_bytes(&f->batch));
    return batch_full(&f->batch) ? validate_fill_send(f, err) : 0;
}

static int validate_fill_read_rows(struct filling *f, struct err *err)
{
    bool end = false;
    struct row row;
    int rc = sample_begin_rows(f->v->sample, err);
    while (rc == 0 && !end) {
        rc = sample_next_row(f->v->sample, &row, &end, err);
        if (rc == 0 && !end) {
            rc = validate_fill_take_row(f, &row, err);
        }
    }
    return rc == 0 ? validate_fill_send(f, err) : rc;
}

static bool validate_fill_has_row(const struct filling *f, const char *key)
{
    for (size_t i = 0; i < sample_count(f->v->sample); i++) {
        if (f->seen[i] && strcmp(sample_key(f->v->sample, i).data, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Notes expected keys without a row, because a search cannot find them. */
static void validate_fill_note_absent(struct filling *f)
{
    const char **named;
    size_t count = validate_named_keys(f->v->options, &named);
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (strcmp(named[same], named[i]) != 0) {
            same++;
        }
        if (same == i && !validate_fill_has_row(f, named[i])) {
            validate_note(f->v, VALIDATE_FAIL, "use ids of rows that the pipeline indexes",
                          "no row has the key \"%s\" that validate.queries names", named[i]);
        }
    }
    free(named);
}

/* Uses several bulk requests, because the first one is slow and must not determine the rate
 * alone. */
static size_t validate_fill_bulk_operations(const struct validating *v)
{
    size_t part = sample_count(v->sample) / BULKS + 1;
    part = part > BULK_LEAST ? part : BULK_LEAST;
    return part < v->options->batch_operations ? part : v->options->batch_operations;
}

/* Indexes the random rows first and measures their disk space before the other rows are added. */
static int validate_fill_average(struct filling *f, struct err *err)
{
    struct validating *v = f->v;
    struct validate_figures *g = &v->report->figures;
    f->average = true;
    int rc = validate_fill_read_rows(f, err);
    f->average = false;
    if (rc == 0 && g->random.documents > 0) {
        rc = index_refresh(v->ports->service, v->trial.index, err);
    }
    return rc == 0 && g->random.documents > 0
               ? trial_bytes(v->ports->service, v->trial.index, &g->random.stored_bytes, err)
               : rc;
}

int validate_fill(struct validating *v, struct err *err)
{
    const struct validate_options *o = v->options;
    struct validate_figures *g = &v->report->figures;
    struct filling f = {.v = v, .version = clock_wall_us(&v->ports->clock)};
    batch_init(&f.batch, o->batch_bytes, o->document_bytes, validate_fill_bulk_operations(v));
    f.batch.routing = o->routing;
    f.seen = mem_zero(sample_count(v->sample) + 1, sizeof(bool));
    int rc = validate_fill_average(&f, err);
    rc = rc == 0 ? validate_fill_read_rows(&f, err) : rc;
    if (rc == 0) {
        validate_fill_note_absent(&f);
        rc = index_finish(v->ports->service, v->trial.index, o->settings, err);
    }
    for (size_t i = 0; i < sample_count(v->sample); i++) {
        g->sampled += f.seen[i] ? 1 : 0;
        g->indexed += v->indexed[i] ? 1 : 0;
    }
    batch_release(&f.batch);
    free(f.seen);
    return rc;
}
