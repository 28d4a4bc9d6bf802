/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of some keys, encodes them as a sync would, and fetches the documents of the same
 * keys. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/document/bulk/encode.h"
#include "verify/verify_private.h"

#define LOOK_BYTES ((size_t)512 << 10)   /* maximum size of rows per query of the index */
#define ANSWER_BYTES ((size_t)2 << 20)   /* larger responses are requested in halves */
#define ENVELOPE_BYTES ((size_t)1 << 20) /* in addition to a single document */
#define READ_WAIT_MS 60000

/* --- documents ------------------------------------------------------------------------------- */

int verify_look_documents(struct verify *v, const struct span *keys, size_t count, bool with_source,
                          void (*each)(void *context, size_t i, const struct document *document),
                          void *context, struct err *err)
{
    static const struct document strange = {.found = true};
    size_t largest = 2 * v->options->pipeline->limits.document_bytes + ENVELOPE_BYTES;
    for (size_t from = 0, size = count; from < count;) {
        size_t most = size > 1 ? ANSWER_BYTES : largest;
        size = size < count - from ? size : count - from;
        int rc = documents_get(v->ports->service, v->result->generation, keys + from, size,
                               with_source, most, &v->documents, err);
        if (rc == DOCUMENTS_TOO_LARGE && size > 1) {
            size = (size + 1) / 2;
            continue;
        }
        if (rc < 0) {
            return rc;
        }
        for (size_t i = 0; i < size; i++) {
            each(context, from + i, rc == DOCUMENTS_TOO_LARGE ? &strange : &v->documents.items[i]);
        }
        from += size;
    }
    return 0;
}

struct flush {
    const struct batch *batch;
    const struct look *look;
};

/* Returns the document without its action line and newlines. */
static struct span verify_look_row_document(const struct batch *b, size_t i)
{
    const struct operation *o = &b->operations[i];
    const char *from = b->bytes.data + o->offset;
    const char *line = memchr(from, '\n', o->len);
    size_t action = (size_t)(line - from) + 1;
    return span_make(line + 1, o->len - action - 1);
}

static void verify_look_flush_one(void *context, size_t i, const struct document *document)
{
    const struct flush *f = context;
    f->look->document(f->look->context, batch_key(f->batch, &f->batch->operations[i]),
                      verify_look_row_document(f->batch, i), document);
}

static int verify_look_flush(struct verify *v, const struct look *look, struct err *err)
{
    struct batch *b = &v->batch;
    struct flush f = {b, look};
    struct span *keys = mem_zero(b->count + 1, sizeof(*keys));
    for (size_t i = 0; i < b->count; i++) {
        keys[i] = batch_key(b, &b->operations[i]);
    }
    int rc = look->document != NULL
                 ? verify_look_documents(v, keys, b->count, true, verify_look_flush_one, &f, err)
                 : 0;
    free(keys);
    batch_reset(b);
    return rc;
}

/* --- rows ------------------------------------------------------------------------------------ */

static int verify_look_await(struct verify *v, struct err *err)
{
    struct pollfd fd = {.fd = v->capture->ops->fd(v->capture), .events = POLLIN};
    int rc = poll(&fd, 1, READ_WAIT_MS);
    if (rc < 0 && errno != EINTR) {
        return err_set(err, ERR_TRANSIENT, "could not wait for the source: %s", strerror(errno));
    }
    return rc == 0 ? err_set(err, ERR_TRANSIENT, "the source has not answered for a minute") : 0;
}

static int verify_look_take_row(struct verify *v, const struct look *look,
                                const struct change *change, struct err *err)
{
    struct refusal refusal = {0};
    const struct plan *plan = v->facts.plan;
    if (change->key_null) {
        return 0;
    }
    if (v->batch.bytes.len >= LOOK_BYTES || v->batch.count == VERIFY_PAGE) {
        int rc = verify_look_flush(v, look, err);
        if (rc < 0) {
            return rc;
        }
    }
    bool written = encode_upsert(&v->batch, plan, &change->row, 1, 1, &refusal);
    if (!written && refusal.no_room) {
        int rc = verify_look_flush(v, look, err);
        if (rc < 0) {
            return rc;
        }
        refusal = (struct refusal){0};
        written = encode_upsert(&v->batch, plan, &change->row, 1, 1, &refusal);
    }
    if (!written && refusal.no_room) {
        return err_set(err, ERR_TRANSIENT, "out of memory for a document");
    }
    if (!written && look->refused != NULL) {
        look->refused(look->context, change->key, refusal.reason);
    }
    return 0;
}

static int verify_look_once(struct verify *v, const struct span *keys, size_t count,
                            const struct look *look, struct err *err)
{
    struct change change = {0};
    batch_reset(&v->batch);
    int rc = v->capture->ops->begin_keys(v->capture, keys, count, look->only_gone, err);
    if (rc == 0 && look->begun != NULL) {
        rc = look->begun(look->context, keys, count, err);
    }
    while (rc == 0 && change.kind != CHANGE_PAGE) {
        rc = v->capture->ops->next(v->capture, &change, err);
        if (rc == 0 && change.kind == CHANGE_WAIT) {
            rc = verify_look_await(v, err);
        } else if (rc == 0 && change.kind == CHANGE_UPSERT) {
            rc = verify_look_take_row(v, look, &change, err);
        } else if (rc == 0 && change.kind == CHANGE_DELETE && look->gone != NULL) {
            look->gone(look->context, change.key);
        }
    }
    return rc == 0 ? verify_look_flush(v, look, err) : rc;
}

/* Retries with the keys that a row can have. Documents of other programs may have ids that the
 * source refuses to look up. */
static int verify_look_possible(struct verify *v, const struct span *keys, size_t count,
                                const struct look *look, struct err *err)
{
    struct err refused = *err;
    struct span *possible = mem_zero(count + 1, sizeof(*possible));
    size_t kept = 0;
    int rc = verify_connect(v, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        bool can = true;
        rc = listing_possible(v->listing, keys[i], &can, err);
        if (rc == 0 && can) {
            possible[kept++] = keys[i];
        } else if (rc == 0 && look->impossible != NULL) {
            look->impossible(look->context, keys[i]);
        }
    }
    if (rc == 0 && kept == count) { /* the refusal has another cause */
        *err = refused;
        rc = (int)refused.class;
    }
    if (rc == 0 && kept > 0) {
        rc = verify_look_once(v, possible, kept, look, err);
    }
    free(possible);
    return rc;
}

int verify_look_keys(struct verify *v, const struct span *keys, size_t count,
                     const struct look *look, struct err *err)
{
    int rc = verify_look_once(v, keys, count, look, err);
    return rc == ERR_REJECTED ? verify_look_possible(v, keys, count, look, err) : rc;
}
