/* SPDX-License-Identifier: Apache-2.0 */
/* A service in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_private.h"
#include "suite.h"

static int service_greet(struct service *self, bool again, struct product_info *out,
                         struct err *err)
{
    (void)again;
    (void)self;
    (void)err;
    *out = (struct product_info){0};
    return 0;
}

/* Without `several` only one index is kept, and an alias can point at no other. */
static int service_resolve(struct service *self, const char *alias, enum alias_kind *kind,
                           struct index_info *out, struct err *err)
{
    (void)err;
    struct fake *f = fake_of(self);
    bool generation = strncmp(alias, "things-", strlen("things-")) == 0;
    if (f->several) {
        (void)fake_look_at(f, generation ? alias : f->alias);
    }
    *out = strcmp(f->alias, f->index) == 0 || f->several ? f->meta : (struct index_info){0};
    *kind = f->alias[0] == '\0' ? ALIAS_ABSENT : f->alias_several ? ALIAS_SEVERAL : ALIAS_ONE;
    if (generation) {
        *kind = strcmp(alias, f->index) == 0 ? ALIAS_CONCRETE : ALIAS_ABSENT;
    }
    snprintf(out->name, sizeof(out->name), "%s", f->several ? f->index : f->alias);
    snprintf(out->uuid, sizeof(out->uuid), "%s", f->uuid);
    snprintf(out->creator, sizeof(out->creator), "%s", f->creator);
    snprintf(out->pipeline, sizeof(out->pipeline), "things");
    snprintf(out->source, sizeof(out->source), "%s", f->source);
    return 0;
}

static int service_expect_hidden(struct service *self, const char *index, const char *pipeline,
                                 struct err *err)
{
    (void)self;
    (void)index;
    (void)pipeline;
    (void)err;
    return 0;
}

static int service_alias_poll_begin(struct service *self, const char *alias, struct err *err)
{
    struct fake *f = fake_of(self);
    (void)alias;
    if (f->alias_poll_fails) {
        return err_set(err, ERR_TRANSIENT, "no connection");
    }
    f->alias_polls++;
    f->alias_polling = true;
    return 0;
}

static int service_alias_poll_end(struct service *self, enum alias_kind *kind,
                                  struct index_info *out, struct err *err)
{
    struct fake *f = fake_of(self);
    if (!f->alias_polling || f->alias_poll_hangs) {
        return ALIAS_POLL_NONE;
    }
    f->alias_polling = false;
    return f->alias_poll_forbidden ? err_set(err, ERR_REJECTED, "GET /things: 403")
                                   : service_resolve(self, "things", kind, out, err);
}

static int service_look(struct service *self, const char *index, bool *found,
                        struct index_info *out, struct err *err)
{
    struct fake *f = fake_of(self);
    enum alias_kind kind;
    (void)fake_look_at(f, index);
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

static int service_create(struct service *self, const char *index, const char *mappings,
                          const char *settings, struct err *err)
{
    (void)settings;
    (void)err;
    struct fake *f = fake_of(self);
    fake_step(f);
    fake_shelve_index(f);
    f->serial = ++f->built;
    snprintf(f->index, sizeof(f->index), "%s", index);
    snprintf(f->uuid, sizeof(f->uuid), "uuid of %.20s", index);
    if (f->several) { /* the same name may be used again after a removal */
        snprintf(f->uuid, sizeof(f->uuid), "%08zu is its uuid", f->serial);
        f->highest_sent = 0;
        memset(f->sent, 0, sizeof(f->sent));
    }
    fake_take_meta(mappings, "creator", f->creator, sizeof(f->creator));
    fake_take_meta(mappings, "mapping", f->meta.fingerprint, sizeof(f->meta.fingerprint));
    fake_take_meta(mappings, "source", f->meta.source, sizeof(f->meta.source));
    fake_take_meta(mappings, "table", f->meta.table, sizeof(f->meta.table));
    snprintf(f->mapping, sizeof(f->mapping), "%s", mappings);
    f->left_to[0] = '\0';
    memset(f->documents, 0, sizeof(f->documents));
    return 0;
}

static int service_open_writes(struct service *self, const struct generation_id *generation,
                               char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err)
{
    struct fake *f = fake_of(self);
    fake_step(f);
    f->write_alias[0] = '\0';
    (void)fake_look_at(f, generation->name);
    if (strcmp(generation->name, f->index) != 0 || strcmp(generation->uuid, f->uuid) != 0) {
        return err_set(err, ERR_STATE, "index \"%s\" is gone", generation->name);
    }
    write_alias_of(alias, f->index, f->creator);
    snprintf(f->write_alias, sizeof(f->write_alias), "%s", alias);
    snprintf(f->written, sizeof(f->written), "%s", generation->name);
    return 0;
}

static int service_finish(struct service *self, const char *index, const char *settings,
                          struct err *err)
{
    (void)index;
    (void)settings;
    (void)err;
    struct fake *f = fake_of(self);
    fake_step(f);
    f->finished = true;
    return 0;
}

static int service_swap(struct service *self, const char *alias, const char *from, const char *to,
                        struct err *err)
{
    (void)alias;
    (void)from;
    (void)err;
    struct fake *f = fake_of(self);
    fake_step(f);
    snprintf(f->alias, sizeof(f->alias), "%s", to);
    return 0;
}

static int service_refresh(struct service *self, const char *index, struct err *err)
{
    (void)self;
    (void)index;
    (void)err;
    return 0;
}

static int service_remove(struct service *self, const char *index, const char *pipeline,
                          struct err *err)
{
    (void)pipeline;
    (void)err;
    struct fake *f = fake_of(self);
    if (!f->several || fake_look_at(f, index)) {
        f->index[0] = '\0';
    }
    return 0;
}

static int service_count(struct service *self, const char *index, int64_t *count, struct err *err)
{
    struct fake *f = fake_of(self);
    f->counts++;
    (void)fake_look_at(f, index);
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

/* Returns pages of five. */
static int service_scan(struct service *self, const char *index, struct span after,
                        struct scan_page *page, struct err *err)
{
    struct fake *f = fake_of(self);
    char keys[FAKE_ROWS][16];
    char last[16] = "";
    size_t count = 0;
    fake_step(f);
    (void)fake_look_at(f, index);
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
            scan_list_push(&page->keys, span_make(keys[i], strlen(keys[i])));
            page->last = page->keys.count < 5;
        }
    }
    return 0;
}

static int service_present(struct service *self, const char *index, const struct span *keys,
                           size_t count, bool *found, struct err *err)
{
    struct fake *f = fake_of(self);
    fake_step(f);
    (void)fake_look_at(f, index);
    f->asked += count;
    if (f->count_forbidden) {
        return err_set(err, ERR_REJECTED, "403");
    }
    for (size_t i = 0; i < count; i++) {
        found[i] = f->documents[fake_key_row(keys[i])].present;
    }
    return 0;
}

static int service_request_limit(struct service *self, int64_t *bytes, struct err *err)
{
    (void)err;
    *bytes = fake_of(self)->request_limit;
    return 0;
}

static int service_storage(struct service *self, const char *index, struct storage *out,
                           struct err *err)
{
    (void)index;
    struct fake *f = fake_of(self);
    f->storage_looks++;
    if (f->storage_forbidden) {
        return err_set(err, ERR_REJECTED, "403");
    }
    *out = (struct storage){f->storage_bytes, f->storage_indexed > 0 ? f->storage_indexed : -1, -1};
    return 0;
}

static int service_wait(struct service *self, int fd, int64_t timeout_ms, bool *readable,
                        struct err *err)
{
    (void)fd;
    (void)err;
    struct fake *f = fake_of(self);
    fake_step(f);
    f->now_us += 100 + timeout_ms * 1000;
    *readable = false;
    return 0;
}

const struct service_port_ops fake_service_ops = {
    .greet = service_greet,
    .resolve = service_resolve,
    .alias.poll_begin = service_alias_poll_begin,
    .alias.poll_end = service_alias_poll_end,
    .look = service_look,
    .create = service_create,
    .alias.expect_hidden = service_expect_hidden,
    .alias.open_writes = service_open_writes,
    .finish = service_finish,
    .swap = service_swap,
    .refresh = service_refresh,
    .remove = service_remove,
    .count = service_count,
    .ready = fake_generation_ready,
    .list = fake_generation_list,
    .leave = fake_generation_leave,
    .left = fake_generation_left,
    .alias.swap_adopting = fake_generation_swap_adopting,
    .alias.undo_adoption = fake_generation_adopt_undo,
    .mapping = fake_generation_mapping,
    .extend = fake_generation_extend,
    .scan = service_scan,
    .present = service_present,
    .storage = service_storage,
    .request_limit = service_request_limit,
    .bulk.can_send = fake_bulk_can_send,
    .bulk.send = fake_bulk_send,
    .bulk.take = fake_bulk_take,
    .bulk.wait = service_wait,
};
