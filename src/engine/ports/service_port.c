/* SPDX-License-Identifier: Apache-2.0 */
/* The service port of a real service: each member is one call. */
#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/engine/port.h"
#include "rowferry/service/bulk/bulk.h"
#include "rowferry/service/index/documents.h"

#define PRESENT_BYTES ((size_t)16 << 20)

static int service_port_greet(void *self, bool again, char cluster[PRODUCT_CLUSTER_BYTES],
                              struct err *err)
{
    struct product_info info;
    int rc = product_detect(self, &info, err);
    if (rc == 0) {
        memcpy(cluster, info.cluster, sizeof(info.cluster));
        log_event(again ? LOG_DEBUG : LOG_INFO, "service_found",
                  F_TEXT("product", product_name(info.product)), F_TEXT("version", info.version),
                  F_INT("stand_in", info.stand_in));
    }
    return rc;
}

static int service_port_resolve(void *self, const char *alias, enum alias_kind *kind,
                                struct index_info *out, struct err *err)
{
    return index_resolve(self, alias, kind, out, err);
}

static int service_port_alias_poll_begin(void *self, const char *alias, struct err *err)
{
    return alias_poll_begin(self, alias, err);
}

static int service_port_alias_poll_end(void *self, enum alias_kind *kind, struct index_info *out,
                                       struct err *err)
{
    return alias_poll_end(self, kind, out, err);
}

static int service_port_look(void *self, const char *index, bool *found, struct index_info *out,
                             struct err *err)
{
    return index_look(self, index, found, out, err);
}

static int service_port_create(void *self, const char *index, const char *mappings,
                               const char *settings, struct err *err)
{
    return index_create(self, index, mappings, settings, err);
}

static int service_port_expect_hidden(void *self, const char *index, const char *pipeline,
                                      struct err *err)
{
    return write_alias_expect_hidden(self, index, pipeline, err);
}

static int service_port_stream_create(void *self, const char *name, const char *mappings,
                                      const char *settings, struct err *err)
{
    return stream_create(self, name, mappings, settings, err);
}

static int service_port_stream_mark(void *self, const struct generation_id *stream, struct err *err)
{
    return stream_mark(self, stream, err);
}

static int service_port_open_writes(void *self, const struct generation_id *generation,
                                    char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err)
{
    return write_alias_open(self, generation, alias, err);
}

static int service_port_finish(void *self, const char *index, const char *settings, struct err *err)
{
    return index_finish(self, index, settings, err);
}

static int service_port_swap(void *self, const char *alias, const char *from, const char *to,
                             struct err *err)
{
    return index_swap(self, alias, from, to, err);
}

static int service_port_refresh(void *self, const char *index, struct err *err)
{
    return index_refresh(self, index, err);
}

static int service_port_remove(void *self, const char *index, const char *pipeline, struct err *err)
{
    return index_delete(self, index, pipeline, err);
}

static int service_port_count(void *self, const char *index, int64_t *count, struct err *err)
{
    return index_count(self, index, count, err);
}

static int service_port_ready(void *self, const char *index, int64_t timeout_ms, bool *green,
                              struct err *err)
{
    int rc = index_ready(self, index, timeout_ms, green, err);
    if (rc == INDEX_UNSEEN) { /* counts as green, because a retry cannot succeed either */
        log_event(LOG_WARN, "health_unseen", F_TEXT("index", index), F_INT("status", 403));
        return 0;
    }
    return rc;
}

static int service_port_list(void *self, const char *alias, const char *pipeline,
                             struct index_info *out, size_t max, size_t *count, struct err *err)
{
    return index_list(self, alias, pipeline, out, max, count, err);
}

static int service_port_leave(void *self, const char *index, const char *pipeline,
                              const char *position, int64_t clock, struct err *err)
{
    return index_leave(self, index, pipeline, position, clock, err);
}

static int service_port_left(void *self, const char *index, struct buf *position, int64_t *clock,
                             bool *found, struct err *err)
{
    return index_left(self, index, position, clock, found, err);
}

static int service_port_swap_adopting(void *self, const char *alias, const char *kept,
                                      const char *to, bool *kept_it, struct err *err)
{
    return adopt_swap_alias(self, alias, kept, to, kept_it, err);
}

static int service_port_adopt_undo(void *self, const char *alias, const char *kept, struct err *err)
{
    return adopt_undo_alias(self, alias, kept, err);
}

static int service_port_mapping(void *self, const char *index, struct buf *json, struct err *err)
{
    return index_mapping(self, index, json, err);
}

static int service_port_extend(void *self, const char *index, const char *properties,
                               const char *meta, struct err *err)
{
    return index_extend(self, index, properties, meta, err);
}

static int service_port_scan(void *self, const char *index, struct span after,
                             struct scan_page *page, struct err *err)
{
    return scan_next(self, index, after, page, err);
}

/* Even a response with the longest keys is far below the limit. */
static int service_port_present(void *self, const char *index, const struct span *keys,
                                size_t count, bool *found, struct err *err)
{
    struct documents documents;
    documents_init(&documents);
    int rc = documents_get(self, index, keys, count, false, PRESENT_BYTES, &documents, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        found[i] = documents.items[i].found;
    }
    documents_release(&documents);
    return rc == DOCUMENTS_TOO_LARGE
               ? err_set(err, ERR_TRANSIENT, "the answer about %zu keys is too large", count)
               : rc;
}

static int service_port_storage(void *self, const char *index, struct storage *out, struct err *err)
{
    return storage_look(self, index, out, err);
}

static bool service_port_can_send(void *self)
{
    return bulk_can_send(self);
}

static int service_port_send(void *self, const char *write_alias, const char *ingest_pipeline,
                             struct batch *batch, struct err *err)
{
    int rc = bulk_send(self, write_alias, ingest_pipeline, batch, err);
    if (rc == 0 && FAILPOINT("bulk_sent")) {
        return err_set(err, ERR_TRANSIENT, "failpoint \"bulk_sent\"");
    }
    return rc;
}

static struct batch *service_port_take(void *self)
{
    struct batch *batch = bulk_take(self);
    if (batch != NULL) {
        (void)FAILPOINT("batch_answered"); /* an answer cannot fail any more */
    }
    return batch;
}

static int service_port_wait(void *self, int fd, int64_t timeout_ms, bool *readable,
                             struct err *err)
{
    return bulk_wait(self, fd, timeout_ms, readable, err);
}

static const struct service_port_ops real_ops = {
    .greet = service_port_greet,
    .resolve = service_port_resolve,
    .alias_poll_begin = service_port_alias_poll_begin,
    .alias_poll_end = service_port_alias_poll_end,
    .look = service_port_look,
    .create = service_port_create,
    .stream_create = service_port_stream_create,
    .expect_hidden = service_port_expect_hidden,
    .stream_mark = service_port_stream_mark,
    .open_writes = service_port_open_writes,
    .finish = service_port_finish,
    .swap = service_port_swap,
    .refresh = service_port_refresh,
    .remove = service_port_remove,
    .count = service_port_count,
    .ready = service_port_ready,
    .list = service_port_list,
    .leave = service_port_leave,
    .left = service_port_left,
    .swap_adopting = service_port_swap_adopting,
    .adopt_undo = service_port_adopt_undo,
    .mapping = service_port_mapping,
    .extend = service_port_extend,
    .scan = service_port_scan,
    .present = service_port_present,
    .storage = service_port_storage,
    .can_send = service_port_can_send,
    .send = service_port_send,
    .take = service_port_take,
    .wait = service_port_wait,
};

struct service_port service_port_of(struct service *s)
{
    return (struct service_port){&real_ops, s};
}
