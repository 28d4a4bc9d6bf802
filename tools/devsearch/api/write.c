/* SPDX-License-Identifier: Apache-2.0 */
/* Applies one write to the index of its name. */
#include "api/write.h"
#include "api/condition.h"
#include "api/streams.h"
#include "base/limits.h"
#include "mapping/checker.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#define ID_MAX_BYTES 512

void write_release(struct write *w)
{
    free(w->index);
    free(w->id);
    free(w->pipeline);
    *w = (struct write){0};
}

const char *write_name(enum write_kind kind)
{
    return kind == WRITE_INDEX ? "index" : kind == WRITE_CREATE ? "create" : "delete";
}

bool version_type_parse(const char *text, enum version_type *type)
{
    bool external = strcmp(text, "external") == 0 || strcmp(text, "external_gt") == 0;
    bool gte = strcmp(text, "external_gte") == 0;
    *type = external ? VERSION_EXTERNAL : gte ? VERSION_EXTERNAL_GTE : VERSION_INTERNAL;
    return external || gte || strcmp(text, "internal") == 0;
}

char *write_problem(const struct write *w)
{
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    bool external = w->version_type != VERSION_INTERNAL;
    if (w->index == NULL) {
        buf_push_literal(&text, "index is missing");
    } else if (w->kind == WRITE_DELETE && (w->id == NULL || w->id_bytes == 0)) {
        buf_push_literal(&text, "id is missing");
    } else if (w->kind == WRITE_CREATE && external) {
        buf_push_literal(&text,
                         "create operations only support internal versioning. use index instead");
    } else if (!external && w->version != VERSION_NONE) {
        buf_push_literal(&text, "internal versioning can not be used for optimistic concurrency "
                                "control. Please use `if_seq_no` and `if_primary_term` instead");
    } else if (external && w->version < 0) {
        buf_printf(&text, "illegal version value [%lld] for version type [%s]",
                   (long long)w->version,
                   w->version_type == VERSION_EXTERNAL ? "EXTERNAL" : "EXTERNAL_GTE");
    } else if (w->kind != WRITE_DELETE && w->id_bytes > ID_MAX_BYTES) {
        buf_printf(&text, "id [%s] is too long, must be no longer than 512 bytes but was: %zu",
                   w->id, w->id_bytes);
    }
    char *problem = text.len > 0 ? buf_detach(&text) : NULL;
    buf_release(&text);
    return problem;
}

static int missing_alias(const struct server *s, const char *name, struct refusal *refusal)
{
    if (catalogue_has_alias(&s->catalogue, name)) {
        return 0;
    }
    refuse(refusal, 404, "index_not_found_exception",
           "no such index [%s] and [require_alias] request flag is [true] and [%s] is not an alias",
           name, name);
    refusal_member(refusal, "index", name);
    refusal_member(refusal, "index_uuid", "_na_");
    return -1;
}

static struct index *target(struct server *s, const struct write *w, struct refusal *refusal)
{
    if (w->require_alias && w->kind != WRITE_DELETE && missing_alias(s, w->index, refusal) != 0) {
        return NULL;
    }
    struct index *ix = catalogue_write_target(&s->catalogue, w->index, refusal);
    if (ix == NULL && refusal->status == 0 && stream_template(&s->catalogue, w->index) != NULL) {
        ix = stream_begin(&s->catalogue, w->index, refusal);
    }
    if (ix != NULL || refusal->status != 0) {
        return ix;
    }
    bool creates =
        w->kind != WRITE_DELETE || (w->version_type != VERSION_INTERNAL && !w->no_create);
    if (!creates) {
        refuse_no_index(refusal, w->index, "index_expression");
        return NULL;
    }
    return catalogue_create(&s->catalogue, w->index, NULL, refusal);
}

static int conflict(const struct server *s, const struct index *ix, const struct write *w,
                    const char *what, int64_t current, struct refusal *refusal)
{
    refuse(refusal, 409, "version_conflict_engine_exception", "%s", "");
    buf_push_char(&refusal->reason, '[');
    buf_push(&refusal->reason, w->id, w->id_bytes);
    buf_printf(&refusal->reason, "]: version conflict, ");
    if (what == NULL) {
        buf_printf(&refusal->reason, "document already exists (current version [%lld])",
                   (long long)current);
    } else {
        buf_printf(&refusal->reason, "current version [%lld] is %s the one provided [%lld]",
                   (long long)current, what, (long long)w->version);
    }
    if (s->options->product == ELASTICSEARCH) {
        refusal_member(refusal, "index_uuid", ix->uuid);
        refusal_member(refusal, "shard", "0");
        refusal_member(refusal, "index", ix->name);
    } else {
        refusal_member(refusal, "index", ix->name);
        refusal_member(refusal, "shard", "0");
        refusal_member(refusal, "index_uuid", ix->uuid);
    }
    return -1;
}

/* Stored state of the document: a live row, a tombstone, or nothing. */
struct current {
    bool live;
    bool known;
    int64_t row;
    int64_t version;
};

static int look_up(const struct server *s, struct index *ix, const struct write *w,
                   struct current *now, struct refusal *refusal)
{
    struct stored doc;
    struct span id = span_make(w->id, w->id_bytes);
    *now = (struct current){0};
    int found = shelf_find(ix->shelf, id, &doc, refusal);
    if (found > 0) {
        *now = (struct current){true, true, doc.row, doc.version};
        return 0;
    }
    int64_t gc_ms = settings_ms(&ix->settings, "index.gc_deletes", 60000);
    if (found == 0 && gc_ms > 0) {
        found = shelf_tombstone(ix->shelf, id, now_ms(s) - gc_ms, &now->version, refusal);
        now->known = found > 0;
    }
    return found < 0 ? -1 : 0;
}

static int decide_version(const struct server *s, const struct index *ix, const struct write *w,
                          const struct current *now, int64_t *version, struct refusal *refusal)
{
    *version = w->version;
    if (w->kind == WRITE_CREATE && now->live) {
        return conflict(s, ix, w, NULL, now->version, refusal);
    }
    if (w->version_type == VERSION_INTERNAL) {
        *version = now->known ? now->version + 1 : 1;
        return 0;
    }
    if (w->version_type == VERSION_EXTERNAL && now->known && now->version >= w->version) {
        return conflict(s, ix, w, "higher or equal to", now->version, refusal);
    }
    if (w->version_type == VERSION_EXTERNAL_GTE && now->known && now->version > w->version) {
        return conflict(s, ix, w, "higher than", now->version, refusal);
    }
    return 0;
}

/* Limits the growth of a dynamic mapping. Fields from mapping requests do not count as growth. */
static int check_growth(const struct index *ix, struct json_object *additions,
                        struct refusal *refusal)
{
    const char *set = settings_get(&ix->settings, "index.mapping.total_fields.limit");
    size_t most = set != NULL ? strtoul(set, NULL, 10) : FIELDS_MAX;
    size_t more = mapping_count(additions);
    return mapping_count(ix->mapping.json) + more <= most
               ? 0
               : refuse(refusal, 400, "illegal_argument_exception",
                        "Limit of total fields [%zu] has been exceeded while adding new fields "
                        "[%zu]",
                        most, more);
}

/* Checks the source and extends a dynamic mapping. */
static int check_source(struct server *s, struct index *ix, const struct write *w,
                        struct checked *out, struct refusal *refusal)
{
    for (int round = 0; round < 2; round++) {
        if (check_document(&ix->mapping, w->source, span_make(w->id, w->id_bytes),
                           s->options->product, out, refusal) != 0) {
            return -1;
        }
        if (out->additions == NULL) {
            return 0;
        }
        struct json_object *additions = json_object_get(out->additions);
        checked_release(out);
        int rc = check_growth(ix, additions, refusal);
        rc = rc == 0 ? mapping_merge(&ix->mapping, additions, s->options->product, refusal) : rc;
        json_object_put(additions);
        if (rc != 0 || catalogue_save(&s->catalogue, ix, refusal) != 0) {
            return -1;
        }
    }
    return 0;
}

static int store_document(struct index *ix, const struct write *w, const struct current *now,
                          int64_t version, const struct checked *checked, struct refusal *refusal)
{
    struct stored doc = {.id = span_make(w->id, w->id_bytes),
                         .version = version,
                         .seq = ix->next_seq,
                         .source = w->source};
    if (now->live && shelf_kill(ix->shelf, now->row, ix->refresh + 1, refusal) != 0) {
        return -1;
    }
    if (shelf_put(ix->shelf, &doc, ix->refresh + 1, &doc.row, refusal) != 0) {
        return -1;
    }
    for (size_t i = 0; i < checked->text_count; i++) {
        struct span text = span_make(checked->texts[i].data, checked->texts[i].len);
        if (text.len > 0 &&
            shelf_text_add(ix->shelf, ix->mapping.texts[i]->path, doc.row, text, refusal) != 0) {
            return -1;
        }
    }
    return 0;
}

static int store_delete(const struct server *s, struct index *ix, const struct write *w,
                        const struct current *now, int64_t version, struct refusal *refusal)
{
    if (now->live && shelf_kill(ix->shelf, now->row, ix->refresh + 1, refusal) != 0) {
        return -1;
    }
    return shelf_bury(ix->shelf, span_make(w->id, w->id_bytes), version, now_ms(s), refusal);
}

static void push_result(const struct index *ix, const struct write *w, const char *result,
                        int64_t version, bool forced_refresh, struct buf *out)
{
    const char *replicas = settings_get(&ix->settings, "index.number_of_replicas");
    buf_push_literal(out, "\"_index\":");
    push_json_text(out, ix->name);
    buf_push_literal(out, ",\"_id\":");
    push_json(out, span_make(w->id, w->id_bytes));
    buf_printf(out,
               ",\"_version\":%lld,\"result\":\"%s\",%s\"_shards\":{\"total\":%d,\"successful\":1,"
               "\"failed\":0},\"_seq_no\":%lld,\"_primary_term\":1",
               (long long)version, result, forced_refresh ? "\"forced_refresh\":true," : "",
               1 + (replicas != NULL ? (int)strtol(replicas, NULL, 10) : 0),
               (long long)ix->next_seq);
}

static int prepare(struct server *s, struct write *w, struct refusal *refusal)
{
    if (w->pipeline != NULL && strcmp(w->pipeline, "_none") != 0) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "pipeline with id [%s] does not exist", w->pipeline);
    }
    if (w->kind != WRITE_DELETE && w->id != NULL && w->id_bytes == 0) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "if _id is specified it must not be empty");
    }
    if (w->id == NULL) {
        w->id = random_name(&s->clock);
        w->id_bytes = strlen(w->id);
    }
    return 0;
}

int write_apply(struct server *s, struct write *w, bool forced_refresh, struct buf *out,
                int *status, struct index **touched, struct refusal *refusal)
{
    struct checked checked = {0};
    struct current now;
    int64_t version;
    int rc = -1;
    if (prepare(s, w, refusal) != 0) {
        return -1;
    }
    struct index *ix = target(s, w, refusal);
    *touched = ix;
    if (ix == NULL || index_check_writable(ix, refusal) != 0 ||
        stream_check_write(s, ix, w, refusal) != 0) {
        return -1;
    }
    if (w->kind != WRITE_DELETE && (check_source(s, ix, w, &checked, refusal) != 0 ||
                                    stream_check_time(s, ix, w, refusal) != 0)) {
        goto done;
    }
    if (look_up(s, ix, w, &now, refusal) != 0 ||
        decide_version(s, ix, w, &now, &version, refusal) != 0) {
        goto done;
    }
    rc = w->kind == WRITE_DELETE ? store_delete(s, ix, w, &now, version, refusal)
                                 : store_document(ix, w, &now, version, &checked, refusal);
    if (rc != 0) {
        goto done;
    }
    bool deletes = w->kind == WRITE_DELETE;
    *status = deletes ? (now.live ? 200 : 404) : (now.live ? 200 : 201);
    push_result(ix, w,
                deletes ? (now.live ? "deleted" : "not_found") : (now.live ? "updated" : "created"),
                version, forced_refresh, out);
    ix->next_seq++;
    ix->indexed += !deletes;
    ix->dirty = true;
done:
    checked_release(&checked);
    return rc;
}

struct copying {
    struct server *server;
    struct index *to;
    struct refusal *refusal;
    int rc;
};

static int copy_one(void *context, const struct stored *doc)
{
    struct copying *c = context;
    struct checked checked = {0};
    struct write w = {.kind = WRITE_INDEX,
                      .id = text_copy_span(doc->id),
                      .id_bytes = doc->id.len,
                      .source = doc->source};
    struct current nothing = {0};
    c->rc = check_source(c->server, c->to, &w, &checked, c->refusal);
    if (c->rc == 0) {
        c->rc = store_document(c->to, &w, &nothing, doc->version, &checked, c->refusal);
    }
    c->to->next_seq++;
    checked_release(&checked);
    free(w.id);
    return c->rc;
}

int write_copies(struct server *s, struct index *from, struct index *to, struct refusal *refusal)
{
    struct copying c = {s, to, refusal, 0};
    int rc = shelf_scan(from->shelf, INT64_MAX - 1, copy_one, &c, refusal);
    to->dirty = true;
    return rc == 0 ? c.rc : -1;
}
