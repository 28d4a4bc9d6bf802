/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves names in requests to indices. */
#include "api/condition.h"
#include "api/streams.h"
#include "base/glob.h"
#include "index/catalogue.h"

#include <stdlib.h>

static void add(struct indices *out, struct index *ix)
{
    for (size_t i = 0; i < out->count; i++) {
        if (out->list[i] == ix) {
            return;
        }
    }
    out->list = mem_grow(out->list, out->count + 1, sizeof(struct index *));
    out->list[out->count++] = ix;
}

/* A backing index matches by its stream's name, because backing indices are hidden. */
static bool matches(const struct index *ix, const char *pattern)
{
    if (ix->stream != NULL) {
        return glob_matches_text(pattern, pattern[0] == '.' ? ix->name : ix->stream);
    }
    if (glob_matches_text(pattern, ix->name)) {
        return true;
    }
    for (size_t i = 0; i < ix->alias_count; i++) {
        if (glob_matches_text(pattern, ix->aliases[i].name)) {
            return true;
        }
    }
    return false;
}

static int resolve_one(const struct catalogue *c, const char *name, bool closed_too,
                       struct indices *out, struct refusal *refusal)
{
    bool wild = strchr(name, '*') != NULL || strcmp(name, "_all") == 0;
    const char *pattern = strcmp(name, "_all") == 0 ? "*" : name;
    size_t found = 0;
    if (!wild && name[0] == '_') {
        refuse(refusal, 400, "invalid_index_name_exception",
               "Invalid index name [%s], must not start with '_'.", name);
        refusal_member(refusal, "index", name);
        refusal_member(refusal, "index_uuid", "_na_");
        return -1;
    }
    for (size_t i = 0; i < c->count; i++) {
        struct index *ix = c->list[i];
        if (wild ? matches(ix, pattern) && (closed_too || !index_is_closed(ix))
                 : strcmp(ix->name, name) == 0 || index_alias(ix, name) != NULL ||
                       index_is_of(ix, name)) {
            add(out, ix);
            found++;
        }
    }
    return found == 0 && !wild ? refuse_no_index(refusal, name, "index_or_alias") : 0;
}

static int resolve(const struct catalogue *c, const char *expression, bool closed_too,
                   struct indices *out, struct refusal *refusal)
{
    char *copy = text_copy(expression);
    char *rest = copy;
    char *name;
    int rc = 0;
    *out = (struct indices){0};
    while (rc == 0 && (name = strsep(&rest, ",")) != NULL) {
        rc = resolve_one(c, name, closed_too, out, refusal);
    }
    free(copy);
    if (rc != 0) {
        free(out->list);
        *out = (struct indices){0};
    }
    return rc;
}

int catalogue_resolve(const struct catalogue *c, const char *expression, struct indices *out,
                      struct refusal *refusal)
{
    return resolve(c, expression, false, out, refusal);
}

int catalogue_resolve_all(const struct catalogue *c, const char *expression, struct indices *out,
                          struct refusal *refusal)
{
    return resolve(c, expression, true, out, refusal);
}

int catalogue_resolve_open(const struct catalogue *c, const char *expression, struct indices *out,
                           struct refusal *refusal)
{
    int rc = resolve(c, expression, false, out, refusal);
    for (size_t i = 0; rc == 0 && i < out->count; i++) {
        rc = index_check_open(out->list[i], refusal);
    }
    if (rc != 0) {
        free(out->list);
        *out = (struct indices){0};
    }
    return rc;
}

/* Counts the indices of an alias. *any is the last one, *write the write index. */
static size_t members(const struct catalogue *c, const char *name, struct index **any,
                      struct index **write, bool *refused)
{
    size_t n = 0;
    *any = NULL;
    *write = NULL;
    *refused = false;
    for (size_t i = 0; i < c->count; i++) {
        const struct alias *alias = index_alias(c->list[i], name);
        if (alias != NULL) {
            n++;
            *any = c->list[i];
            *write = alias->write == 1 ? c->list[i] : *write;
            *refused = *refused || alias->write == 0;
        }
    }
    return n;
}

struct index *catalogue_one(const struct catalogue *c, const char *name, struct refusal *refusal)
{
    struct index *ix = catalogue_find(c, name);
    struct index *write;
    bool refused;
    if (ix != NULL) {
        return index_check_open(ix, refusal) == 0 ? ix : NULL;
    }
    size_t n = members(c, name, &ix, &write, &refused);
    if (n == 0) {
        refuse_no_index(refusal, name, "index_expression");
        return NULL;
    }
    if (n == 1) {
        return index_check_open(ix, refusal) == 0 ? ix : NULL;
    }
    refuse(refusal, 400, "illegal_argument_exception",
           "alias [%s] has more than one index associated with it [", name);
    size_t listed = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (index_alias(c->list[i], name) != NULL) {
            buf_printf(&refusal->reason, "%s%s", listed++ > 0 ? ", " : "", c->list[i]->name);
        }
    }
    buf_push_literal(&refusal->reason, "], can't execute a single index op");
    return NULL;
}

struct index *catalogue_write_target(const struct catalogue *c, const char *name,
                                     struct refusal *refusal)
{
    struct index *any;
    struct index *write;
    bool refused;
    refusal->status = 0;
    struct index *ix = catalogue_find(c, name);
    ix = ix != NULL ? ix : stream_newest(c, name);
    if (ix != NULL) {
        return ix;
    }
    size_t n = members(c, name, &any, &write, &refused);
    if (write != NULL || n == 0 || (n == 1 && !refused)) {
        return write != NULL ? write : any;
    }
    refuse(refusal, 400, "illegal_argument_exception",
           "no write index is defined for alias [%s]. The write index may be explicitly disabled "
           "using is_write_index=false or the alias points to multiple indices without one being "
           "designated as a write index",
           name);
    return NULL;
}
