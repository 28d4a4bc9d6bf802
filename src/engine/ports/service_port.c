/* SPDX-License-Identifier: Apache-2.0 */
/* The service port of a real service: the functions of the room, and five that adapt one. */
#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/engine/port.h"
#include "rowferry/service/bulk/bulk.h"
#include "rowferry/service/cluster/privilege.h"
#include "rowferry/service/index/documents.h"

#define PRESENT_BYTES ((size_t)16 << 20)

static int service_port_greet(struct service *s, bool again, struct product_info *out,
                              struct err *err)
{
    bool accounts = true;
    int rc = product_detect(s, out, err);
    rc = rc == 0 ? privilege_refuse_admin(s, out, &accounts, err) : rc;
    if (rc == 0) {
        log_event(again ? LOG_DEBUG : LOG_INFO, "service_found",
                  F_TEXT("product", product_name(out->product)), F_TEXT("version", out->version),
                  F_BOOL("stand_in", out->stand_in), F_BOOL("accounts", accounts));
    }
    return rc;
}

static int service_port_ready(struct service *s, const char *index, int64_t timeout_ms, bool *green,
                              struct err *err)
{
    int rc = index_ready(s, index, timeout_ms, green, err);
    if (rc == INDEX_UNSEEN) { /* counts as green, because a retry cannot succeed either */
        log_event(LOG_WARN, "health_unseen", F_TEXT("index", index), F_INT("status", 403));
        return 0;
    }
    return rc;
}

/* Even a response with the longest keys is far below the limit. */
static int service_port_present(struct service *s, const char *index, const struct span *keys,
                                size_t count, bool *found, struct err *err)
{
    struct documents documents;
    documents_init(&documents);
    int rc = documents_get(s, index, keys, count, false, PRESENT_BYTES, &documents, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        found[i] = documents.items[i].found;
    }
    documents_release(&documents);
    return rc == DOCUMENTS_TOO_LARGE
               ? err_set(err, ERR_TRANSIENT, "the answer about %zu keys is too large", count)
               : rc;
}

static int service_port_send(struct service *s, const char *write_alias,
                             const char *ingest_pipeline, struct batch *batch, struct err *err)
{
    int rc = bulk_send(s, write_alias, ingest_pipeline, batch, err);
    if (rc == 0 && FAILPOINT("bulk_sent")) {
        return err_set(err, ERR_TRANSIENT, "failpoint \"bulk_sent\"");
    }
    return rc;
}

static struct batch *service_port_take(struct service *s)
{
    struct batch *batch = bulk_take(s);
    if (batch != NULL) {
        (void)FAILPOINT("batch_answered"); /* an answer cannot fail any more */
    }
    return batch;
}

static const struct service_port_ops real_ops = {
    .greet = service_port_greet,
    .resolve = index_resolve,
    .alias.poll_begin = alias_poll_begin,
    .alias.poll_end = alias_poll_end,
    .look = index_look,
    .create = index_create,
    .stream.create = stream_create,
    .alias.expect_hidden = write_alias_expect_hidden,
    .stream.mark = stream_mark,
    .alias.open_writes = write_alias_open,
    .finish = index_finish,
    .swap = index_swap,
    .refresh = index_refresh,
    .remove = index_delete,
    .count = index_count,
    .ready = service_port_ready,
    .list = index_list,
    .leave = index_leave,
    .left = index_left,
    .alias.swap_adopting = adopt_swap_alias,
    .alias.undo_adoption = adopt_undo_alias,
    .mapping = index_mapping,
    .extend = index_extend,
    .scan = scan_next,
    .present = service_port_present,
    .storage = storage_look,
    .request_limit = cluster_request_limit,
    .bulk.can_send = bulk_can_send,
    .bulk.send = service_port_send,
    .bulk.take = service_port_take,
    .bulk.wait = bulk_wait,
};

struct service_port service_port_of(struct service *s)
{
    return (struct service_port){&real_ops, s};
}
