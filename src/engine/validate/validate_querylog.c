/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the searches of an application, and checks that the mapping suits the fields they use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

#define WHERE_BYTES 160

/* Writes " (FILE:LINE)". */
static void validate_querylog_place(char out[WHERE_BYTES], const struct validating *v, size_t line)
{
    snprintf(out, WHERE_BYTES, " (%.120s:%zu)", v->options->log_file, line);
}

int validate_log_run(struct validating *v, size_t *found, struct err *err)
{
    const struct querylog *log = v->options->log;
    int rc = 0;
    *found = 0;
    for (size_t i = 0; log != NULL && i < log->count && rc == 0; i++) {
        char where[WHERE_BYTES];
        validate_querylog_place(where, v, log->items[i].line);
        rc = validate_search(v, log->items[i].body, 1, err);
        bool refused = rc < 0 && !validate_ends(err);
        if (rc == 0) {
            *found += v->hits.total > 0 ? 1 : 0;
        } else if (refused) {
            err_context(err, "search of the application%s", where);
            validate_note_error(v, "correct the mapping of its fields, or the search", err);
            rc = 0;
        }
        if (rc == 0) {
            validate_case(v, refused ? VALIDATE_FAIL : VALIDATE_PASS, log->items[i].body,
                          "an answer", refused ? "the service refuses it" : "%lld hits",
                          (long long)v->hits.total);
        }
    }
    if (rc == 0 && log != NULL && log->left_out > 0) {
        validate_note(v, VALIDATE_WARN, "leave searches out of the file that are like others",
                      "%zu searches of %s were left out, after %d different ones", log->left_out,
                      v->options->log_file, QUERYLOG_MOST);
    }
    return rc;
}

/* --- fields ---------------------------------------------------------------------------------- */

/* A use of a field, and the first line with it. */
struct used_field {
    enum field_use use;
    char *name;
    size_t line;
};

struct used_fields {
    enum field_use first, last;
    size_t line;
    struct used_field *items;
    size_t count;
};

static void validate_querylog_collect(void *context, enum field_use use, const char *field)
{
    struct used_fields *u = context;
    bool known = use < u->first || use > u->last;
    for (size_t i = 0; i < u->count && !known; i++) {
        known = u->items[i].use == use && strcmp(u->items[i].name, field) == 0;
    }
    if (!known) {
        u->items = mem_grow(u->items, u->count + 1, sizeof(*u->items));
        u->items[u->count++] = (struct used_field){use, text_copy(field), u->line};
    }
}

/* Returns true if the mapping computes the field in searches. */
static bool validate_querylog_is_runtime(const struct mapping *m, const char *field)
{
    struct buf key;
    char *runtime = mapping_parameter(m, "", "runtime");
    buf_init(&key, VALIDATE_TEXT_BYTES);
    text_json(&key, field, strlen(field));
    buf_push_char(&key, ':');
    bool found = runtime != NULL && strstr(runtime, buf_text(&key)) != NULL;
    buf_release(&key);
    free(runtime);
    return found;
}

/* Returns true if the index can have a field that the mapping does not name: it grows by itself, or
 * an object keeps all of its members as keywords. */
static bool validate_querylog_is_implied(const struct validating *v, const char *field)
{
    const char *dynamic = v->options->mapping->dynamic;
    bool implied =
        validate_querylog_is_runtime(v->options->mapping, field) ||
        (dynamic != NULL && strcmp(dynamic, "strict") != 0 && strcmp(dynamic, "false") != 0);
    for (const char *dot = strchr(field, '.'); dot != NULL && !implied;
         dot = strchr(dot + 1, '.')) {
        char *parent = text_copy_span(span_make(field, (size_t)(dot - field)));
        char *type = validate_field_type(v, parent);
        implied =
            type != NULL && (strcmp(type, "flattened") == 0 || strcmp(type, "flat_object") == 0);
        free(type);
        free(parent);
    }
    return implied;
}

static const char *validate_querylog_verb(enum field_use use)
{
    static const char *const verbs[] = {[USE_FILTER] = "filtered",
                                        [USE_MATCH] = "searched",
                                        [USE_SORT] = "sorted",
                                        [USE_AGGREGATE] = "aggregated"};
    return verbs[use];
}

static void validate_querylog_note_off(struct validating *v, const struct used_field *f,
                                       enum validate_status status, const char *parameter,
                                       const char *where)
{
    char remedy[256];
    snprintf(remedy, sizeof(remedy), "leave out \"%s\": false of \"%.150s\" in to.mappings",
             parameter, f->name);
    validate_note(v, status, remedy, "field \"%s\" %s be %s by: the mapping has \"%s\": false%s",
                  f->name, status == VALIDATE_FAIL ? "cannot" : "can only slowly",
                  validate_querylog_verb(f->use), parameter, where);
}

/* Judges a field of the mapping. name: its own, or that of the field that an alias stands for. */
static void validate_querylog_judge_type(struct validating *v, const struct used_field *f,
                                         const char *name, const char *type, const char *where)
{
    bool text = validate_type_is_text(type);
    bool orders = f->use == USE_SORT || f->use == USE_AGGREGATE;
    char *fielddata = mapping_parameter(v->options->mapping, name, "fielddata");
    bool in_memory = fielddata != NULL && strcmp(fielddata, "true") == 0;
    bool unordered = validate_said_off(v, name, "doc_values");
    free(fielddata);
    if (text && (f->use == USE_FILTER || (orders && !in_memory))) {
        validate_note_text_field(v, f->name, validate_querylog_verb(f->use), where);
    } else if (orders && unordered) {
        validate_querylog_note_off(v, f, VALIDATE_FAIL, "doc_values", where);
    } else if (!orders && validate_said_off(v, name, "index")) {
        validate_querylog_note_off(v, f, text || unordered ? VALIDATE_FAIL : VALIDATE_WARN, "index",
                                   where);
    }
}

static void validate_querylog_judge_field(struct validating *v, const struct used_field *f)
{
    char where[WHERE_BYTES];
    char *type = validate_field_type(v, f->name);
    char *target = type != NULL && strcmp(type, "alias") == 0
                       ? mapping_parameter(v->options->mapping, f->name, "path")
                       : NULL;
    validate_querylog_place(where, v, f->line);
    if (target != NULL) {
        free(type);
        type = validate_field_type(v, target);
    }
    if (type != NULL) {
        validate_querylog_judge_type(v, f, target != NULL ? target : f->name, type, where);
    } else if (!validate_querylog_is_implied(v, f->name)) {
        validate_note_unknown_field(v, f->name, validate_querylog_verb(f->use), where);
    }
    free(target);
    free(type);
}

size_t validate_log_judge(struct validating *v, enum field_use first, enum field_use last)
{
    const struct querylog *log = v->options->log;
    struct used_fields used = {.first = first, .last = last};
    for (size_t i = 0; log != NULL && i < log->count; i++) {
        used.line = log->items[i].line;
        querylog_fields(log->items[i].body, validate_querylog_collect, &used);
    }
    for (size_t i = 0; i < used.count; i++) {
        validate_querylog_judge_field(v, &used.items[i]);
        free(used.items[i].name);
    }
    free(used.items);
    return used.count;
}
