/* SPDX-License-Identifier: Apache-2.0 */
/* Differences if the generation is a data stream: it has the alias's name, there is only one, and
 * writes use that name. */
#include <stdio.h>

#include "generation/generation.h"

static int generation_stream_refuse(const struct generation *t, struct err *err)
{
    err_set(err, ERR_REJECTED,
            "\"%s\" is already the name of a data stream, so no alias can have it",
            t->definition->alias);
    return err_hint(err, "choose another to.index, or set to.kind to \"data_stream\"");
}

int generation_resolve(const struct generation *t, enum alias_kind *kind, struct index_info *at,
                       struct err *err)
{
    int rc = t->service.ops->resolve(t->service.self, t->definition->alias, kind, at, err);
    if (rc == 0 && t->definition->stream && *kind != ALIAS_ABSENT) {
        *kind = *kind == ALIAS_STREAM ? ALIAS_ONE : ALIAS_CONCRETE;
    }
    return rc == 0 && *kind == ALIAS_STREAM ? generation_stream_refuse(t, err) : rc;
}

int generation_look(const struct generation *t, const char *name, bool *found,
                    struct index_info *at, struct err *err)
{
    enum alias_kind kind;
    if (!t->definition->stream) {
        return t->service.ops->look(t->service.self, name, found, at, err);
    }
    int rc = t->service.ops->resolve(t->service.self, name, &kind, at, err);
    *found = rc == 0 && kind == ALIAS_STREAM;
    return rc;
}

int generation_open(struct generation *t, struct err *err)
{
    const struct checkpoint *c = &t->checkpoint;
    const struct generation_id generation = {c->generation, c->index_uuid, t->definition->name,
                                             *t->place.text != '\0' ? t->place.text : NULL};
    if (!t->definition->stream) {
        return t->service.ops->alias.open_writes(t->service.self, &generation, t->write_alias, err);
    }
    snprintf(t->write_alias, sizeof(t->write_alias), "%s", c->generation);
    return t->service.ops->stream.mark(t->service.self, &generation, err);
}

int generation_hint_anew(const struct generation *t, const char *or_else, struct err *err)
{
    return t->definition->stream
               ? err_hint(err,
                          "%s, or fill a new data stream: give the pipeline another name and "
                          "another to.index",
                          or_else)
               : err_hint(err, "%s, or rebuild the index: rowferry reindex %s", or_else,
                          t->definition->name);
}
