/* SPDX-License-Identifier: Apache-2.0 */
/* A service in memory: versions decide, a judge may refuse, answers arrive at the next wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_private.h"
#include "suite.h"

static int service_greet(void *self, bool again, struct err *err)
{
    (void)again;
    (void)self;
    (void)err;
    return 0;
}

/* There is one index: of what an alias points at beside it nothing is left. */
static int service_resolve(void *self, const char *alias, enum alias_kind *kind,
                           struct index_info *out, struct err *err)
{
    (void)err;
    const struct fake *f = self;
    *out = strcmp(f->alias, f->index) == 0 ? f->meta : (struct index_info){0};
    *kind = f->alias[0] == '\0' ? ALIAS_ABSENT : f->alias_several ? ALIAS_SEVERAL : ALIAS_ONE;
    if (strncmp(alias, "things-", strlen("things-")) == 0) { /* a generation */
        *kind = strcmp(alias, f->index) == 0 ? ALIAS_CONCRETE : ALIAS_ABSENT;
    }
    snprintf(out->name, sizeof(out->name), "%s", f->alias);
    snprintf(out->uuid, sizeof(out->uuid), "%s", f->uuid);
    snprintf(out->creator, sizeof(out->creator), "%s", f->creator);
    snprintf(out->pipeline, sizeof(out->pipeline), "things");
    snprintf(out->source, sizeof(out->source), "%s", f->source);
    return 0;
}

static int service_glance(void *self, const char *alias, struct err *err)
{
    struct fake *f = self;
    (void)alias;
    if (f->glance_fails) {
        return err_set(err, ERR_TRANSIENT, "no connection");
    }
    f->glances++;
    f->glancing = true;
    return 0;
}

static int service_glanced(void *self, enum alias_kind *kind, struct index_info *out,
                           struct err *err)
{
    struct fake *f = self;
    if (!f->glancing || f->glance_hangs) {
        return GLANCE_NONE;
    }
    f->glancing = false;
    return f->glance_forbidden ? err_set(err, ERR_REJECTED, "GET /things: 403")
                               : service_resolve(self, "things", kind, out, err);
}

static int service_look(void *self, const char *index, bool *found, struct index_info *out,
                        struct err *err)
{
    const struct fake *f = self;
    enum alias_kind kind;
    *found = strcmp(f->index, index) == 0;
    return service_resolve(self, index, &kind, out, err);
}

void fake_take_meta(const char *mappings, const char *name, char *out, size_t size)
{
    char before[32];
    snprintf(before, sizeof(before), "\"%s\":\"", name);
    const char *at = strstr(mappings, before);
    ck_assert_ptr_nonnull(at);
    at += strlen(before);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

static int service_create(void *self, const char *index, const char *mappings, const char *settings,
                          struct err *err)
{
    (void)settings;
    (void)err;
    struct fake *f = self;
    fake_step(f);
    snprintf(f->index, sizeof(f->index), "%s", index);
    snprintf(f->uuid, sizeof(f->uuid), "uuid of %.20s", index);
    fake_take_meta(mappings, "creator", f->creator, sizeof(f->creator));
    fake_take_meta(mappings, "mapping", f->meta.fingerprint, sizeof(f->meta.fingerprint));
    fake_take_meta(mappings, "source", f->meta.source, sizeof(f->meta.source));
    fake_take_meta(mappings, "table", f->meta.table, sizeof(f->meta.table));
    snprintf(f->mapping, sizeof(f->mapping), "%s", mappings);
    f->left_to[0] = '\0';
    memset(f->documents, 0, sizeof(f->documents));
    f->built++;
    return 0;
}

static int service_open_writes(void *self, const struct generation *generation,
                               char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err)
{
    struct fake *f = self;
    fake_step(f);
    f->write_alias[0] = '\0';
    if (strcmp(generation->name, f->index) != 0 || strcmp(generation->uuid, f->uuid) != 0) {
        return err_set(err, ERR_STATE, "index \"%s\" is gone", generation->name);
    }
    index_write_alias(alias, f->index, f->creator);
    snprintf(f->write_alias, sizeof(f->write_alias), "%s", alias);
    return 0;
}

static int service_finish(void *self, const char *index, const char *settings, struct err *err)
{
    (void)index;
    (void)settings;
    (void)err;
    struct fake *f = self;
    fake_step(f);
    f->finished = true;
    return 0;
}

static int service_swap(void *self, const char *alias, const char *from, const char *to,
                        struct err *err)
{
    (void)alias;
    (void)from;
    (void)err;
    struct fake *f = self;
    fake_step(f);
    snprintf(f->alias, sizeof(f->alias), "%s", to);
    return 0;
}

static int service_refresh(void *self, const char *index, struct err *err)
{
    (void)self;
    (void)index;
    (void)err;
    return 0;
}

static int service_remove(void *self, const char *index, const char *pipeline, struct err *err)
{
    (void)index;
    (void)pipeline;
    (void)err;
    ((struct fake *)self)->index[0] = '\0';
    return 0;
}

static int service_count(void *self, const char *index, int64_t *count, struct err *err)
{
    struct fake *f = self;
    f->counts++;
    *count = 0;
    if (f->count_forbidden) {
        return err_set(err, ERR_REJECTED, "403");
    }
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        *count += strcmp(index, f->index) == 0 && f->documents[i].present;
    }
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Pages of five. */
static int service_scan(void *self, const char *index, struct span after, struct scan_page *page,
                        struct err *err)
{
    (void)index;
    struct fake *f = self;
    char keys[FAKE_ROWS][16];
    char last[16] = "";
    size_t count = 0;
    fake_step(f);
    f->scans++;
    if (f->scan_forbidden) {
        return err_set(err, ERR_REJECTED, "403");
    }
    if (f->fail_scans > 0) {
        f->fail_scans--;
        return err_set(err, ERR_TRANSIENT, "connection refused");
    }
    for (size_t i = 0; i < FAKE_ROWS; i++) {
        if (f->documents[i].present) {
            snprintf(keys[count++], sizeof(keys[0]), "k%zu", i);
        }
    }
    qsort(keys, count, sizeof(keys[0]), by_bytes);
    if (after.data != NULL) {
        snprintf(last, sizeof(last), "%.*s", (int)after.len, after.data);
    }
    scan_page_reset(page);
    page->last = true;
    for (size_t i = 0; i < count && page->last; i++) {
        if (strcmp(keys[i], last) > 0) {
            scan_page_push(page, span_make(keys[i], strlen(keys[i])));
            page->last = page->count < 5;
        }
    }
    return 0;
}

static size_t key_row(struct span key);

static int service_present(void *self, const char *index, const struct span *keys, size_t count,
                           bool *found, struct err *err)
{
    (void)index;
    struct fake *f = self;
    fake_step(f);
    f->asked += count;
    if (f->count_forbidden) {
        return err_set(err, ERR_REJECTED, "403");
    }
    for (size_t i = 0; i < count; i++) {
        found[i] = f->documents[key_row(keys[i])].present;
    }
    return 0;
}

static bool service_can_send(void *self)
{
    const struct fake *f = self;
    return f->in_flight < f->max_in_flight;
}

static size_t key_row(struct span key)
{
    char text[32];
    snprintf(text, sizeof(text), "%.*s", (int)key.len, key.data);
    return (size_t)strtoul(text + 1, NULL, 10);
}

static bool flies(const struct fake *f, size_t row)
{
    for (size_t i = 0; i < f->in_flight; i++) {
        const struct batch *b = f->flying[i];
        for (size_t j = 0; j < batch_travelling(b); j++) {
            if (key_row(batch_key(b, &b->operations[j])) == row) {
                return true;
            }
        }
    }
    return false;
}

/* What is repeated has the version it had, all else a higher one than ever before. */
static void note_version(struct fake *f, size_t row, const struct operation *o)
{
    bool right = o->attempts > 0 ? o->version == f->sent[row] : o->version > f->sent[row];
    f->version_went_back |= !right;
    f->sent[row] = o->version;
}

static int service_send(void *self, const char *index, const char *ingest_pipeline,
                        struct batch *batch, struct err *err)
{
    (void)ingest_pipeline;
    (void)err;
    struct fake *f = self;
    fake_step(f);
    ck_assert_str_eq(index, f->write_alias);
    for (size_t i = 0; i < batch_travelling(batch); i++) {
        if (batch->operations[i].version > f->highest_sent) {
            f->highest_sent = batch->operations[i].version;
        }
        size_t row = key_row(batch_key(batch, &batch->operations[i]));
        f->double_key |= flies(f, row);
        note_version(f, row, &batch->operations[i]);
    }
    for (size_t i = 0; i < batch_travelling(batch); i++) {
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
    size_t row = key_row(batch_key(b, o));
    struct fake_document *d = &f->documents[row];
    f->operations++;
    if (f->judge != NULL) {
        char key[16];
        snprintf(key, sizeof(key), "k%zu", row);
        o->outcome = f->judge(f, key, f->attempts[row]++);
        if (o->outcome != OUTCOME_DONE) {
            o->seen = d->version;
            return;
        }
    }
    if (d->version >= o->version) {
        bool ours = d->version == o->version && o->attempts > 1;
        o->outcome = ours ? OUTCOME_DONE : OUTCOME_OUTRUN;
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
    for (size_t i = 0; i < batch_travelling(b); i++) {
        const struct operation *o = &b->operations[i];
        if (f->late_count < sizeof(f->late) / sizeof(f->late[0])) {
            f->late[f->late_count++] = (struct fake_late){key_row(batch_key(b, o)),
                                                          f->built,
                                                          {.version = o->version,
                                                           .n = document_number(b, o),
                                                           .present = o->kind == OPERATION_UPSERT}};
        }
    }
}

void fake_deliver(struct fake *f, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->late_count; i++) {
        const struct fake_late *l = &f->late[i];
        if (!all && fake_dice(f, 4) > 0) {
            f->late[kept++] = *l;
        } else if (l->built == f->built && f->documents[l->row].version < l->document.version) {
            f->documents[l->row] = l->document;
        }
    }
    f->late_count = kept;
}

static void apply_all(struct fake *f, struct batch *b)
{
    for (size_t i = 0; i < batch_travelling(b); i++) {
        apply(f, b, &b->operations[i]);
    }
}

/* What outran an operation once is to be stepped over. */
static void note_outruns(struct fake *f, const struct batch *b)
{
    for (size_t i = 0; i < batch_travelling(b); i++) {
        const struct operation *o = &b->operations[i];
        size_t row = key_row(batch_key(b, o));
        if (o->outcome == OUTCOME_OUTRUN) {
            f->told_times[row] = f->told[row] == o->seen ? f->told_times[row] + 1 : 1;
            f->told[row] = o->seen;
            f->most_told = f->told_times[row] > f->most_told ? f->told_times[row] : f->most_told;
        }
    }
}

static void no_answer(struct batch *b)
{
    for (size_t i = 0; i < batch_travelling(b); i++) {
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
    note_outruns(f, b);
}

static struct batch *service_take(void *self)
{
    struct fake *f = self;
    fake_step(f);
    if (f->in_flight == 0) {
        return NULL;
    }
    struct batch *b = f->flying[--f->in_flight];
    f->requests++;
    if (f->most_operations > 0 && batch_travelling(b) > f->most_operations) {
        b->http_status = 413;
    } else {
        answer(f, b);
    }
    return b;
}

static int service_storage(void *self, const char *index, struct storage *out, struct err *err)
{
    (void)index;
    struct fake *f = self;
    f->storage_looks++;
    if (f->storage_forbidden) {
        return err_set(err, ERR_REJECTED, "403");
    }
    *out = (struct storage){f->storage_bytes, -1};
    return 0;
}

static int service_wait(void *self, int fd, int64_t timeout_ms, bool *readable, struct err *err)
{
    (void)fd;
    (void)err;
    struct fake *f = self;
    fake_step(f);
    f->now_us += 100 + timeout_ms * 1000;
    *readable = false;
    return 0;
}

const struct service_port_ops fake_service_ops = {
    .greet = service_greet,
    .resolve = service_resolve,
    .glance = service_glance,
    .glanced = service_glanced,
    .look = service_look,
    .create = service_create,
    .open_writes = service_open_writes,
    .finish = service_finish,
    .swap = service_swap,
    .refresh = service_refresh,
    .remove = service_remove,
    .count = service_count,
    .ready = fake_generation_ready,
    .list = fake_generation_list,
    .leave = fake_generation_leave,
    .left = fake_generation_left,
    .swap_adopting = fake_generation_swap_adopting,
    .adopt_undo = fake_generation_adopt_undo,
    .mapping = fake_generation_mapping,
    .extend = fake_generation_extend,
    .scan = service_scan,
    .present = service_present,
    .storage = service_storage,
    .can_send = service_can_send,
    .send = service_send,
    .take = service_take,
    .wait = service_wait,
};
