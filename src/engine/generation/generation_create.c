/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the index or data stream of a generation, with what its `_meta` says about it. */
#include <string.h>

#include "generation/generation.h"

static void generation_create_push_member(struct buf *meta, const char *name, const char *text)
{
    buf_printf(meta, "\"%s\":", name);
    text_json(meta, text, strlen(text));
    buf_push_char(meta, ',');
}

static void generation_create_meta(const struct generation *t, const char *fingerprint,
                                   struct buf *meta)
{
    buf_push_char(meta, '{');
    generation_create_push_member(meta, "pipeline", t->definition->name);
    generation_create_push_member(meta, "mapping", fingerprint);
    generation_create_push_member(meta, "source", t->facts.identity);
    generation_create_push_member(meta, "table", t->facts.fingerprint);
    generation_create_push_member(meta, "creator", t->creator);
    if (t->facts.place != NULL) {
        generation_create_push_member(meta, "place", t->facts.place);
    }
    buf_push_literal(meta, "\"rowferry\":\"" ROWFERRY_VERSION "\"}");
}

int generation_create(const struct generation *t, const char *fingerprint, struct err *err)
{
    struct buf meta;
    struct buf mappings;
    buf_init(&meta, 64 * 1024);
    buf_init(&mappings, 16 * 1024 * 1024);
    generation_create_meta(t, fingerprint, &meta);
    mapping_write(&mappings, t->definition->mapping, buf_text(&meta));
    __typeof__(index_create) *create =
        t->definition->stream ? t->service.ops->stream.create : t->service.ops->create;
    int rc = create(t->service.self, t->checkpoint.generation, buf_text(&mappings),
                    t->definition->settings, err);
    buf_release(&meta);
    buf_release(&mappings);
    return rc;
}
