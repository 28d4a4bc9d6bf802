/* SPDX-License-Identifier: Apache-2.0 */
/* document: prints rows as they would be sent, without sending them. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/pretty.h"
#include "output/terminal.h"
#include "rowferry/base/file.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/bulk/encode.h"
#include "rowferry/document/json/hit.h"
#include "setup.h"

#define NAME_BYTES 1024
#define DOCUMENT_OPERATIONS 1
#define HIT_MAX_BYTES ((size_t)128 << 20)
#define HIT_WAIT_MS 60000 /* for the writer of a pipe */
#define PRETTY_GROWTH 100 /* maximum growth factor, more than any document needs */

struct dry_run {
    struct session session;
    const struct plan *plan;
    struct capture *capture;
    struct batch batch;
    bool pretty;
    bool missed; /* an ID has no document */
};

/* The capture requires a unique name, but nothing is registered under it. */
static int document_open_capture(struct dry_run *d, struct err *err)
{
    session_open_table(&d->session);
    struct source_port port = table_source_port(d->session.table);
    struct source_facts facts;
    int rc = port.ops->connect(port.self, &facts, err);
    if (rc < 0) {
        return rc;
    }
    d->plan = facts.plan;
    struct buf name;
    buf_init(&name, NAME_BYTES);
    buf_printf(&name, "%s/document/%ld", d->session.pipeline->name, (long)getpid());
    rc = port.ops->capture(port.self, buf_text(&name), &d->capture, err);
    buf_release(&name);
    return rc;
}

static int document_begin_keys(struct dry_run *d, const char *const *ids, size_t count,
                               struct err *err)
{
    struct span *keys = mem_zero(count, sizeof(*keys));
    for (size_t i = 0; i < count; i++) {
        keys[i] = span_make(ids[i], strlen(ids[i]));
    }
    int rc = d->capture->ops->begin_keys(d->capture, keys, count, false, err);
    free(keys);
    return rc;
}

static char *document_printable(struct span key)
{
    struct buf text;
    buf_init(&text, key.len * TEXT_ESCAPED_BYTES + 1);
    terminal_push_safe(&text, key.data, key.len);
    return buf_detach(&text);
}

static void document_report_gone(struct dry_run *d, const struct change *change)
{
    char *key = document_printable(change->key);
    terminal_print("pipeline \"%s\": no row with key \"%s\": a sync deletes its document",
                   d->session.pipeline->name, key);
    free(key);
    d->missed = true;
}

static void document_report_refused(struct dry_run *d, const struct change *change,
                                    const struct refusal *refusal)
{
    char *key = document_printable(change->key);
    bool column = refusal->column != NULL;
    terminal_print("pipeline \"%s\": row with key \"%s\" would be a dead letter: %s%s%s%s%s%s%s",
                   d->session.pipeline->name, key, column ? "column \"" : "",
                   column ? refusal->column : "", column ? "\": " : "", refusal->reason,
                   refusal->beginning[0] != '\0' ? ": \"" : "", refusal->beginning,
                   refusal->beginning[0] != '\0' ? "\"" : "");
    free(key);
    d->missed = true;
}

/* Prints action line and document, each as a value over several lines. */
static int document_show_pretty(const struct buf *lines, struct err *err)
{
    struct buf out;
    size_t most = lines->len * PRETTY_GROWTH + PRETTY_GROWTH;
    buf_init(&out, most);
    for (size_t i = 0; i < lines->len;) {
        size_t len = strcspn(lines->data + i, "\n");
        pretty_push(&out, span_make(lines->data + i, len));
        buf_push_char(&out, '\n');
        i += len + 1;
    }
    int rc = out.failed ? err_set(err, ERR_REJECTED, "the document is too deep for --pretty")
                        : terminal_result(&out, err);
    buf_release(&out);
    return rc;
}

static int document_show_row(struct dry_run *d, const struct change *change, struct err *err)
{
    struct refusal refusal = {0};
    int64_t version = clock_wall_us(&d->session.clock);
    batch_reset(&d->batch);
    d->batch.read_us = version;
    if (!encode_upsert(&d->batch, d->plan, &change->row, version, 1, &refusal)) {
        document_report_refused(d, change, &refusal);
        return 0;
    }
    return d->pretty ? document_show_pretty(&d->batch.bytes, err)
                     : terminal_result(&d->batch.bytes, err);
}

static int document_show_all(struct dry_run *d, struct err *err)
{
    struct change change;
    int rc = 0;
    do {
        rc = d->capture->ops->next(d->capture, &change, err);
        if (rc == 0 && change.kind == CHANGE_WAIT) {
            struct pollfd fd = {.fd = d->capture->ops->fd(d->capture), .events = POLLIN};
            if (poll(&fd, 1, -1) < 0 && errno != EINTR) {
                rc = err_set(err, ERR_TRANSIENT, "could not wait for the source: %s",
                             strerror(errno));
            }
        } else if (rc == 0 && change.kind == CHANGE_UPSERT) {
            rc = document_show_row(d, &change, err);
        } else if (rc == 0 && change.kind == CHANGE_DELETE) {
            document_report_gone(d, &change);
        }
    } while (rc == 0 && change.kind != CHANGE_PAGE);
    return rc;
}

static int document_show_documents(const struct config *config,
                                   const struct pipeline_config *pipeline, const char *const *ids,
                                   size_t count, bool pretty, struct err *err)
{
    struct dry_run d = {.pretty = pretty};
    size_t most = (size_t)pipeline->limits.document_bytes;
    batch_init(&d.batch, most, most, DOCUMENT_OPERATIONS);
    d.batch.routing = config_routing(pipeline);
    d.batch.creates = pipeline->to.kind == INDEX_KIND_DATA_STREAM;
    int rc = session_init(&d.session, config, pipeline, "document", err);
    if (rc == 0) {
        rc = document_open_capture(&d, err);
    }
    if (rc == 0) {
        rc = document_begin_keys(&d, ids, count, err);
    }
    if (rc == 0) {
        rc = document_show_all(&d, err);
    }
    if (d.capture != NULL) {
        d.capture->ops->free(d.capture);
    }
    session_release(&d.session);
    batch_release(&d.batch);
    if (rc < 0) {
        err_context(err, "pipeline \"%s\"", pipeline->name);
        return rc;
    }
    return d.missed ? EXIT_FAILED : EXIT_DONE;
}

/* --- the row of a hit ------------------------------------------------------------------------- */

/* Returns true if the index is the pipeline's alias, a generation such as "shop-20261127-1", or a
 * backing index of its data stream, such as ".ds-shop-2026.11.27-000001". */
static bool document_is_index_of(const struct pipeline_config *p, const char *index)
{
    bool stream = p->to.kind == INDEX_KIND_DATA_STREAM;
    const char *backing = stream ? strstr(index, ".ds-") : NULL;
    const char *name = backing != NULL ? backing + strlen(".ds-") : index;
    size_t len = strlen(p->to.index);
    if (strncmp(name, p->to.index, len) != 0) {
        return false;
    }
    const char *rest = name + len;
    size_t date = rest[0] == '-' ? strspn(rest + 1, stream ? "0123456789." : "0123456789") : 0;
    const char *number = rest + date + 1;
    return rest[0] == '\0' || (date >= 8 && number[0] == '-' && number[1] != '\0' &&
                               number[1 + strspn(number + 1, "0123456789")] == '\0');
}

/* `named`: by --pipeline. */
static int document_find_pipeline(const struct setup *setup, const struct hit *hit, bool named,
                                  const struct pipeline_config **out, struct err *err)
{
    const struct config *c = setup->config;
    bool bare = hit->index == NULL && hit->pipeline == NULL;
    *out = named || (bare && setup->count == 1) ? setup->pipelines[0]
           : hit->pipeline != NULL              ? config_pipeline(c, hit->pipeline)
                                                : NULL;
    for (size_t i = 0; *out == NULL && i < c->pipeline_count && hit->index != NULL; i++) {
        *out = document_is_index_of(&c->pipelines[i], hit->index) ? &c->pipelines[i] : NULL;
    }
    if (*out == NULL) {
        err_set(err, ERR_REJECTED, "the hit is of index \"%s\", which is of no pipeline in \"%s\"",
                hit->index != NULL ? hit->index : "", c->path);
        err_hint(err, "name the pipeline: --pipeline NAME");
        return ERR_REJECTED;
    }
    return 0;
}

static int document_show_hit(const struct setup *setup, const struct hit *hit, bool named,
                             bool pretty, struct err *err)
{
    const struct pipeline_config *pipeline;
    int rc = document_find_pipeline(setup, hit, named, &pipeline, err);
    const char *key = hit->source_id != NULL ? hit->source_id : hit->id;
    if (rc == 0 && hit->source_id == NULL && pipeline->to.id == ID_SHA256 &&
        key_is_hash(span_make(key, strlen(key)))) {
        return err_set(err, ERR_REJECTED,
                       "the hit has no \"source_id\", and its \"_id\" is the hash of a key");
    }
    return rc == 0 ? document_show_documents(setup->config, pipeline, &key, 1, pretty, err) : rc;
}

static int document_read_hit(const char *path, struct hit *out, struct err *err)
{
    struct buf text;
    buf_init(&text, HIT_MAX_BYTES);
    const char *why =
        file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, HIT_WAIT_MS, &text, NULL);
    int rc = why != NULL   ? err_set(err, ERR_CONFIG, "could not read \"%s\": %s", path, why)
             : text.failed ? err_set(err, ERR_CONFIG, "it is too large for a hit")
                           : hit_read(out, span_make(buf_text(&text), text.len), err);
    buf_release(&text);
    return rc < 0 && why == NULL ? err_context(err, "\"%s\"", path) : rc;
}

int command_document(const struct arguments *a, struct err *err)
{
    struct setup setup = {0};
    struct hit hit = {0};
    const char *path = a->values[OPTION_FROM_HIT];
    bool pretty = arguments_have(a, OPTION_PRETTY);
    bool named = arguments_have(a, OPTION_PIPELINE);
    if ((a->operand_count == 0) != (path != NULL)) {
        return err_set(err, ERR_CONFIG,
                       "command \"document\" needs ID... or --from-hit, not both; "
                       "see: rowferry document --help");
    }
    int rc = path != NULL ? document_read_hit(path, &hit, err) : 0;
    if (rc == 0) {
        rc = path != NULL && !named ? setup_load(&setup, a, err) : setup_load_one(&setup, a, err);
    }
    if (rc == 0) {
        rc = setup_secrets(&setup, err);
    }
    if (rc == 0) {
        rc = path != NULL ? document_show_hit(&setup, &hit, named, pretty, err)
                          : document_show_documents(setup.config, setup.pipelines[0], a->operands,
                                                    a->operand_count, pretty, err);
    }
    setup_release(&setup);
    hit_release(&hit);
    return rc;
}
