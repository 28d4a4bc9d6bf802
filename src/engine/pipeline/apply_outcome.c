/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the outcome of each operation. */
#include "pipeline/loop.h"
#include "rowferry/service/bulk/outcome.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/http/index_block.h"

#define HTTP_CONFLICT 409

/* Records a dead letter for a change of the page. */
static void apply_outcome_letter(struct loop *l, uint64_t page, const struct new_letter *letter)
{
    pending_commit_reject(&l->pending_commit, letter);
    loop_observers_settled(&l->observers, page, false, letter);
    l->counters.rejected++;
    if (source_reader_was_asked(&l->source_reader, page)) {
        requests_settled(&l->requests, letter->kind, true);
    }
}

/* Counts a delete as done without sending it: no document can have this key. */
static void apply_outcome_absent(struct loop *l, uint64_t page)
{
    struct span key = l->reading.change.key;
    if (source_reader_was_asked(&l->source_reader, page)) {
        requests_settled(&l->requests, OPERATION_DELETE, false);
    }
    loop_observers_settled(&l->observers, page, false, NULL);
    l->counters.cleared +=
        pending_commit_done(&l->pending_commit, key, text_hash(key.data, key.len));
}

/* Returns true if a deleted row has no document, as far as the service can confirm. */
static bool apply_outcome_has_no_document(struct loop *l)
{
    if (!l->view.target.stream) {
        return true;
    }
    bool there;
    struct err unseen;
    const struct service_port *service = &l->view.service;
    int rc = service->ops->present(service->self, l->view.target.index, &l->reading.change.key, 1,
                                   &there, &unseen);
    return rc == 0 && !there;
}

/* Handles a change that could not be encoded: records a dead letter for its row. */
void apply_outcome_refusal(struct loop *l, uint64_t page, const struct refusal *refusal)
{
    if (l->reading.change.kind == CHANGE_DELETE && !l->reading.change.key_null &&
        apply_outcome_has_no_document(l)) {
        apply_outcome_absent(l, page);
        return;
    }
    struct buf reason;
    buf_init(&reason, 2048);
    if (refusal->column != NULL) {
        buf_printf(&reason, "column \"%s\": ", refusal->column);
    }
    buf_push_text(&reason, refusal->reason);
    if (refusal->beginning[0] != '\0') {
        buf_printf(&reason, ": %s", refusal->beginning);
    }
    struct new_letter letter = {
        .key = l->reading.change.key_null ? span_make("", 0) : l->reading.change.key,
        .kind = l->reading.change.kind == CHANGE_UPSERT ? OPERATION_UPSERT : OPERATION_DELETE,
        .reason = span_make(buf_text(&reason), reason.len),
        .version = l->source_reader.version,
    };
    apply_outcome_letter(l, page, &letter);
    buf_release(&reason);
}

static void apply_outcome_done(struct loop *l, const struct operation *o, struct span key,
                               uint64_t hash)
{
    bool present = o->version == OPERATION_CREATES && o->http_status == HTTP_CONFLICT;
    if (source_reader_was_asked(&l->source_reader, o->page)) {
        l->requests.present += present;
        requests_settled(&l->requests, o->kind, false);
    }
    l->counters.present += present;
    l->counters.upserts += o->kind == OPERATION_UPSERT && !present;
    l->counters.deletes += o->kind == OPERATION_DELETE;
    loop_observers_settled(&l->observers, o->page, true, NULL);
    l->counters.cleared += pending_commit_done(&l->pending_commit, key, hash);
    window_settle(&l->window, o->page, hash, o->len);
}

static void apply_outcome_rejected(struct loop *l, const struct batch *batch,
                                   const struct operation *o, struct span reason, uint64_t hash)
{
    struct new_letter letter = {.key = batch_key(batch, o),
                                .kind = o->kind,
                                .reason = reason,
                                .error_type = batch_error_type(batch, o),
                                .http_status = o->http_status,
                                .version = o->version};
    apply_outcome_letter(l, o->page, &letter);
    window_settle(&l->window, o->page, hash, o->len);
}

/* Schedules a conflicting operation to be read again. If the document has a version that no clock
 * can pass, it belongs to another writer, and the row becomes a dead letter. */
static void apply_outcome_conflict(struct loop *l, const struct batch *batch,
                                   const struct operation *o, uint64_t hash)
{
    static const char words[] = "another writer gave this document a version that none can pass";
    if (o->seen >= VERSION_FOREIGN) {
        apply_outcome_rejected(l, batch, o, span_make(words, sizeof(words) - 1), hash);
        return;
    }
    l->counters.conflicts++;
    source_reader_again(
        &l->source_reader,
        &(struct again){.key = batch_key(batch, o), .page = o->page, .bytes = o->len}, o->seen);
}

static void apply_outcome_hint(const struct loop *l, struct span reason, struct err *why)
{
    if (index_block_hint(reason, l->view.target.index, why)) {
        return;
    }
    if (outcome_is_gone(reason) && l->view.target.stream) {
        err_hint(why, "the next sync fills the data stream again: rowferry sync %s",
                 l->view.target.pipeline);
    } else if (outcome_is_gone(reason)) {
        err_hint(why, "put the index back, or rebuild it: rowferry reindex %s",
                 l->view.target.pipeline);
    } else if (outcome_is_shared(reason)) {
        err_hint(why, "take alias \"%s\" off all indices but \"%s\"", l->sender.write_alias,
                 l->view.target.index);
    }
}

/* Handles a fatal outcome: no operation of this kind can succeed. The pipeline ends and the
 * operation stays unsettled. */
static void apply_outcome_fatal(struct loop *l, const struct batch *batch,
                                const struct operation *o)
{
    struct err why;
    if (batch->failure.class != ERR_NONE) {
        why = batch->failure;
    } else {
        struct span reason = batch_reason(batch, o);
        if (outcome_is_gone(reason)) { /* the service's text names the inner alias alone */
            err_set(&why, ERR_REJECTED, "index \"%s\" or its alias for writes no longer exists",
                    l->view.target.index);
        } else {
            err_set(&why, ERR_REJECTED, "index \"%s\" takes no writes: %d %.*s",
                    l->view.target.index, o->http_status, (int)reason.len, reason.data);
            if (!outcome_is_shared(reason)) { /* its hint needs the inner alias */
                http_hide_alias(why.message);
            }
        }
        why.http_status = o->http_status;
        apply_outcome_hint(l, reason, &why);
    }
    loop_end(l, &why);
}

int apply_outcome_operation(void *context, const struct batch *batch, const struct operation *o,
                            struct err *err)
{
    struct loop *l = context;
    struct span key = batch_key(batch, o);
    uint64_t hash = text_hash(key.data, key.len);
    switch (o->outcome) {
    case OUTCOME_DONE:
        apply_outcome_done(l, o, key, hash);
        return 0;
    case OUTCOME_REJECTED:
        apply_outcome_rejected(l, batch, o, batch_reason(batch, o), hash);
        return 0;
    case OUTCOME_CONFLICT:
        apply_outcome_conflict(l, batch, o, hash);
        return 0;
    case OUTCOME_FATAL:
        apply_outcome_fatal(l, batch, o);
        return 0;
    case OUTCOME_UNKNOWN:
    case OUTCOME_RETRY:
        break;
    }
    return err_set(err, ERR_INTERNAL, "an operation to repeat was given to settle");
}
