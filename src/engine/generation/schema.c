/* SPDX-License-Identifier: Apache-2.0 */
/* Reports drift, and extends a live index by additive changes. */
#include "generation/generation_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"
#include "rowferry/engine/generation/pipeline_definition.h"
#include "rowferry/state/definition.h"

#define WORDS_MAX_BYTES ((size_t)64 << 20)
#define HTTP_BAD_REQUEST 400

/* Without an ingest pipeline this is the mapping's own fingerprint. */
void schema_fingerprint(const struct generation *t, char out[17])
{
    mapping_fingerprint(out, t->definition->mapping);
    if (t->definition->ingest_pipeline != NULL) {
        struct buf text;
        buf_init(&text, 64 * 1024);
        buf_printf(&text, "%s through %s", out, t->definition->ingest_pipeline);
        snprintf(out, 17, "%016" PRIx64, text_hash(buf_text(&text), text.len));
        buf_release(&text);
    }
}

static void schema_push_mapping_words(const struct generation *t, struct buf *out)
{
    struct buf mappings;
    buf_init(&mappings, WORDS_MAX_BYTES);
    mapping_write(&mappings, t->definition->mapping, NULL);
    drift_words_push_mapping(out, buf_text(&mappings), t->definition->ingest_pipeline);
    buf_release(&mappings);
}

/* was: identity and fingerprints of the index; state: where the canonical texts are, null:
 * unavailable. */
static int schema_compare(const struct generation *t, struct drift_side was, struct state *state,
                          struct drift_found *out, struct err *err)
{
    char fingerprint[17];
    char *mapping_words = NULL;
    char *table_words = NULL;
    struct buf words;
    buf_init(&words, WORDS_MAX_BYTES);
    schema_fingerprint(t, fingerprint);
    schema_push_mapping_words(t, &words);
    const struct drift_side is = {t->facts.identity, fingerprint, t->facts.fingerprint,
                                  buf_text(&words), t->facts.words};
    bool same = was.mapping != NULL && was.table != NULL && strcmp(was.mapping, is.mapping) == 0 &&
                strcmp(was.table, is.table) == 0;
    int rc = 0;
    if (!same && state != NULL && was.mapping != NULL && was.table != NULL) {
        rc = definition_look(state, was.mapping, &mapping_words, err);
        if (rc == 0) {
            rc = definition_look(state, was.table, &table_words, err);
        }
    }
    was.mapping_words = mapping_words;
    was.table_words = table_words;
    drift_release(out);
    if (rc == 0) {
        drift_find(out, &was, &is);
    }
    free(mapping_words);
    free(table_words);
    buf_release(&words);
    return rc;
}

int schema_pipeline_drift(const struct pipeline_definition *definition,
                          const struct source_facts *facts, const struct index_info *index,
                          struct state *state, struct drift_found *out, struct err *err)
{
    struct generation t = {.definition = definition, .facts = *facts};
    const struct drift_side was = {
        .identity = index->source, .mapping = index->fingerprint, .table = index->table};
    *out = (struct drift_found){0};
    return schema_compare(&t, was, state, out, err);
}

int schema_note(struct generation *t, struct err *err)
{
    char fingerprint[17];
    struct buf words;
    if (t->observes) {
        return 0;
    }
    schema_fingerprint(t, fingerprint);
    buf_init(&words, WORDS_MAX_BYTES);
    schema_push_mapping_words(t, &words);
    int rc = definition_note(t->state, fingerprint, buf_text(&words), err);
    if (rc == 0 && t->facts.words != NULL) {
        rc = definition_note(t->state, t->facts.fingerprint, t->facts.words, err);
    }
    buf_release(&words);
    return rc;
}

/* Appends the names: "body, title.raw". */
static void schema_push_added(const struct drift_found *d, struct buf *out)
{
    for (size_t i = 0; i < d->added_count; i++) {
        buf_push_text(out, i > 0 ? ", " : "");
        buf_push_text(out, d->added[i]);
    }
}

static int schema_refuse(const struct generation *t, struct err *err)
{
    err_set(err, ERR_STATE, "%s that index \"%s\" was built from", t->drift.what,
            t->checkpoint.generation);
    if (t->drift.kind == DRIFT_ADDITIVE) {
        return err_hint(err, "the next sync adds it to the index: rowferry sync %s",
                        t->definition->name);
    }
    bool other = !generation_same_text(t->checkpoint.source_identity, t->facts.identity);
    (void)generation_hint_anew(t,
                               other ? "pg_upgrade, a restored dump and a logical copy make "
                                       "another database: connect to the former one"
                                     : "restore its former definition",
                               err);
    return err_drift(err);
}

/* Extends the index. If the service refuses the mapping, the change is not additive after all. */
static int schema_extend_index(struct generation *t, const char *fingerprint, struct err *err)
{
    struct buf meta;
    buf_init(&meta, 1024);
    buf_printf(&meta, "{\"mapping\":\"%s\",\"table\":\"%s\"}", fingerprint, t->facts.fingerprint);
    int rc = t->definition->stream
                 ? generation_create(t, fingerprint, err)
                 : t->service.ops->extend(t->service.self, t->checkpoint.generation,
                                          t->drift.additions, buf_text(&meta), err);
    if (rc == ERR_REJECTED && err->http_status == HTTP_BAD_REQUEST) {
        t->drift.kind = DRIFT_REBUILD;
        err_context(err, "the mapping cannot be added to index \"%s\"", t->checkpoint.generation);
        (void)generation_hint_anew(t, "restore its former definition", err);
        err_drift(err);
    }
    buf_release(&meta);
    return rc;
}

static int schema_extend_source(struct generation *t, struct err *err)
{
    struct buf consumer;
    const struct drift_found *d = &t->drift;
    buf_init(&consumer, 2048);
    generation_consumer(t, &consumer);
    int rc = t->source.ops->extend(t->source.self, buf_text(&consumer),
                                   (const char *const *)d->added, d->added_count, err);
    buf_release(&consumer);
    return rc;
}

static int schema_record(struct generation *t, const char *fingerprint, struct err *err)
{
    const struct extension extension = {
        .mapping_fingerprint = fingerprint,
        .table_fingerprint = t->facts.fingerprint,
        .properties = (const char *const *)t->drift.added,
        .count = t->drift.added_count,
        .wall_us = clock_wall_us(&t->clock),
    };
    int rc = schema_note(t, err);
    if (rc == 0) {
        rc = definition_extension_note(t->state, &extension, err);
    }
    return rc == 0 ? generation_reload(t, err) : rc;
}

static void schema_report(struct generation *t)
{
    struct buf added;
    buf_init(&added, WORDS_MAX_BYTES);
    schema_push_added(&t->drift, &added);
    if (added.len > 0) {
        snprintf(t->extended, sizeof(t->extended), "%s", buf_text(&added));
    }
    log_event(LOG_INFO, "mapping_extended", F_TEXT("pipeline", t->definition->name),
              F_TEXT("index", t->checkpoint.generation), F_TEXT("properties", buf_text(&added)));
    buf_release(&added);
}

static int schema_extend(struct generation *t, struct err *err)
{
    char fingerprint[17];
    schema_fingerprint(t, fingerprint);
    int rc = schema_extend_source(t, err);
    if (rc == 0) {
        rc = schema_extend_index(t, fingerprint, err);
    }
    if (rc == 0 && FAILPOINT("mapping_extended")) {
        rc = err_set(err, ERR_TRANSIENT, "failpoint \"mapping_extended\"");
    }
    if (rc == 0) {
        rc = schema_record(t, fingerprint, err);
    }
    if (rc == 0) {
        schema_report(t);
    }
    return rc;
}

int schema_check(struct generation *t, struct err *err)
{
    const struct checkpoint *c = &t->checkpoint;
    const struct drift_side was = {.identity = c->source_identity,
                                   .mapping = c->mapping_fingerprint,
                                   .table = c->table_fingerprint};
    int rc = schema_compare(t, was, t->state, &t->drift, err);
    if (rc < 0) {
        return rc;
    }
    if (t->drift.kind == DRIFT_NONE) {
        return schema_note(t, err);
    }
    if (t->drift.kind == DRIFT_REBUILD || t->observes || c->phase != GENERATION_LIVE) {
        return schema_refuse(t, err);
    }
    return schema_extend(t, err);
}

/* A template of the service may have added to it, and "ignore_above" can be put in place. */
int schema_check_source_id(const struct generation *t, const struct index_info *at, struct err *err)
{
    const char *fault = t->definition->routing.hashed ? at->long_key_fault : at->source_id_fault;
    if (fault == NULL) {
        return 0;
    }
    err_set(err, ERR_STATE,
            "\"%s\" of property \"source_id\" in index \"%s\" prevents listing documents by key",
            fault, at->name);
    return err_hint(err,
                    "remove it from the index templates that match the name, then run: rowferry "
                    "%s %s",
                    t->checkpoint.phase == GENERATION_LIVE ? "reindex" : "sync",
                    t->definition->name);
}

/* An index just created may not stay as a template made it. */
int schema_expect_plain(const struct generation *t, const struct index_info *at, struct err *err)
{
    struct err ignored;
    int rc =
        t->service.ops->alias.expect_hidden(t->service.self, at->name, t->definition->name, err);
    if (rc == 0) {
        rc = schema_check_source_id(t, at, err);
        if (rc < 0) {
            (void)!t->service.ops->remove(t->service.self, at->name, t->definition->name, &ignored);
        }
    }
    return rc;
}
