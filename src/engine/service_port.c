/* SPDX-License-Identifier: Apache-2.0 */
/* The service port over the real service: each member is one call. */
#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/engine/port.h"
#include "rowferry/service/bulk.h"
#include "rowferry/service/product.h"

static int port_greet(void *self, struct err *err)
{
    struct product_info info;
    int rc = product_detect(self, &info, err);
    if (rc == 0) {
        log_event(LOG_INFO, "service_found", F_TEXT("product", product_name(info.product)),
                  F_TEXT("version", info.version), F_INT("stand_in", info.stand_in));
    }
    return rc;
}

static int port_resolve(void *self, const char *alias, enum alias_kind *kind,
                        struct index_info *out, struct err *err)
{
    return index_resolve(self, alias, kind, out, err);
}

static int port_look(void *self, const char *index, bool *found, struct index_info *out,
                     struct err *err)
{
    return index_look(self, index, found, out, err);
}

static int port_create(void *self, const char *index, const char *mappings, const char *settings,
                       struct err *err)
{
    return index_create(self, index, mappings, settings, err);
}

static int port_finish(void *self, const char *index, const char *settings, struct err *err)
{
    return index_finish(self, index, settings, err);
}

static int port_swap(void *self, const char *alias, const char *from, const char *to,
                     struct err *err)
{
    return index_swap(self, alias, from, to, err);
}

static int port_refresh(void *self, const char *index, struct err *err)
{
    return index_refresh(self, index, err);
}

static int port_remove(void *self, const char *index, const char *pipeline, struct err *err)
{
    return index_delete(self, index, pipeline, err);
}

static int port_count(void *self, const char *index, int64_t *count, struct err *err)
{
    return index_count(self, index, count, err);
}

static int port_scan(void *self, const char *index, struct span after, struct scan_page *page,
                     struct err *err)
{
    return scan_next(self, index, after, page, err);
}

static int port_storage(void *self, const char *index, struct storage *out, struct err *err)
{
    return storage_look(self, index, out, err);
}

static bool port_can_send(void *self)
{
    return bulk_can_send(self);
}

static int port_send(void *self, const char *index, const char *ingest_pipeline,
                     struct batch *batch, struct err *err)
{
    int rc = bulk_send(self, index, ingest_pipeline, batch, err);
    if (rc == 0 && FAILPOINT("bulk_sent")) {
        return err_set(err, ERR_TRANSIENT, "failpoint \"bulk_sent\"");
    }
    return rc;
}

static struct batch *port_take(void *self)
{
    struct batch *batch = bulk_take(self);
    if (batch != NULL) {
        (void)FAILPOINT("batch_answered"); /* an answer cannot fail any more */
    }
    return batch;
}

static int port_wait(void *self, int fd, int64_t timeout_ms, bool *readable, struct err *err)
{
    return bulk_wait(self, fd, timeout_ms, readable, err);
}

static const struct service_port_ops real_ops = {
    .greet = port_greet,
    .resolve = port_resolve,
    .look = port_look,
    .create = port_create,
    .finish = port_finish,
    .swap = port_swap,
    .refresh = port_refresh,
    .remove = port_remove,
    .count = port_count,
    .scan = port_scan,
    .storage = port_storage,
    .can_send = port_can_send,
    .send = port_send,
    .take = port_take,
    .wait = port_wait,
};

struct service_port service_port_of(struct service *s)
{
    return (struct service_port){&real_ops, s};
}
