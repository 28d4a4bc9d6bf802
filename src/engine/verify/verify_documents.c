/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the index's keys in the table, to find documents without a row. */
#include "verify/verify_private.h"

static void verify_documents_on_extra(void *context, struct span key)
{
    scan_list_push(&((struct verify *)context)->suspects, key);
}

static int verify_documents_refresh(struct verify *v, struct err *err)
{
    const struct service_port *service = &v->ports->pipeline->service;
    int rc = service->ops->refresh(service->self, v->result->generation, err);
    v->result->unlisted = rc == ERR_REJECTED;
    return rc == ERR_REJECTED ? 0 : rc;
}

/* Lists documents by id, because a document may have another row's source_id. */
static int verify_documents_list(struct verify *v, struct err *err)
{
    v->scanned.ids = true;
    const struct service_port *service = &v->ports->pipeline->service;
    return service->ops->scan(service->self, v->result->generation, verify_after(v), &v->scanned,
                              err);
}

static int verify_documents_list_nameless(struct verify *v, struct err *err)
{
    return documents_nameless(v->ports->service, v->result->generation, &v->scanned, err);
}

static int verify_documents_gone_of_page(struct verify *v, struct err *err)
{
    struct look look = {.gone = verify_documents_on_extra,
                        .impossible = verify_documents_on_extra,
                        .context = v,
                        .only_gone = true};
    return verify_look_at_page(v, &look, err);
}

/* Looks up a page of the index, or its first `most` keys, in the table. */
static int verify_documents_look_scanned(struct verify *v, size_t most, struct err *err)
{
    scan_list_cut(&v->page, 0);
    for (size_t i = 0; i < v->scanned.keys.count && i < most; i++) {
        scan_list_push(&v->page, scan_list_get(&v->scanned.keys, i));
    }
    int rc = v->page.count > 0 ? verify_endure(v, verify_documents_gone_of_page, err) : 0;
    v->result->documents += rc == 0 ? (int64_t)v->page.count : 0;
    return rc;
}

static int verify_documents_scan_on(struct verify *v, size_t most, struct err *err)
{
    int rc = verify_endure(v, verify_documents_list, err);
    if (rc == 0) {
        rc = verify_documents_look_scanned(v, most, err);
    }
    if (rc == 0 && v->page.count > 0) {
        verify_remember(v, span_make(buf_text(&v->scanned.next), v->scanned.next.len));
        verify_moves(v, v->page.count);
    }
    return rc;
}

/* Reads parts of pages that begin after keys of the sample; at most as many documents as rows. */
static int verify_documents_scan_sampled(struct verify *v, struct err *err)
{
    size_t pages = (v->sample.count + SCAN_SURE - 1) / SCAN_SURE;
    int rc = 0;
    for (size_t i = 0; i < pages && rc == 0 && !verify_stopping(v); i++) {
        verify_remember(v, scan_list_get(&v->sample, i));
        rc = verify_documents_scan_on(v, v->sample.count / pages, err);
    }
    return rc;
}

static int verify_documents_scan_all(struct verify *v, struct err *err)
{
    int rc = 0;
    v->scanned.last = false;
    while (rc == 0 && !v->scanned.last && !verify_stopping(v)) {
        rc = verify_documents_scan_on(v, SIZE_MAX, err);
        if (rc == 0) {
            rc = verify_confirm_many(v, false, err);
        }
    }
    return rc;
}

int verify_walk_documents(struct verify *v, struct err *err)
{
    v->begun = false;
    verify_begin_stage(v, "documents", v->result->rows);
    int rc = verify_endure(v, verify_documents_refresh, err);
    if (rc == 0) {
        rc = v->options->sample > 0 ? verify_documents_scan_sampled(v, err)
                                    : verify_documents_scan_all(v, err);
    }
    if (rc == 0 && !verify_stopping(v)) {
        rc = verify_endure(v, verify_documents_list_nameless, err);
        if (rc == 0) {
            rc = verify_documents_look_scanned(v, SIZE_MAX, err);
        }
    }
    return rc == 0 ? verify_confirm_many(v, true, err) : rc;
}
