/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two readings of the configuration, option by option. */
#include <string.h>

#include "options.h"
#include "rowferry/base/text.h"
#include "rowferry/config/config.h"

static bool config_compare_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool config_compare_same_texts(char *const *a, size_t a_count, char *const *b,
                                      size_t b_count)
{
    bool same = a_count == b_count;
    for (size_t i = 0; i < a_count && same; i++) {
        same = config_compare_same_text(a[i], b[i]);
    }
    return same;
}

static bool config_compare_same_secret(const struct secret *a, const struct secret *b)
{
    return a->origin == b->origin && a->fresh == b->fresh &&
           config_compare_same_text(a->place, b->place) &&
           config_compare_same_text(a->value, b->value);
}

static bool config_compare_same_fields(const struct pipeline_config *a,
                                       const struct pipeline_config *b)
{
    bool same = a->field_count == b->field_count;
    for (size_t i = 0; i < a->field_count && same; i++) {
        same = config_compare_same_text(a->fields[i].property, b->fields[i].property) &&
               config_compare_same_text(a->fields[i].column, b->fields[i].column) &&
               config_compare_same_text(a->fields[i].zone, b->fields[i].zone);
    }
    return same;
}

static bool config_compare_same_dependencies(const struct from_config *a,
                                             const struct from_config *b)
{
    bool same = a->dependency_count == b->dependency_count;
    for (size_t i = 0; i < a->dependency_count && same; i++) {
        const struct dependency *x = &a->dependencies[i];
        const struct dependency *y = &b->dependencies[i];
        same = config_compare_same_text(x->table, y->table) &&
               config_compare_same_text(x->keys, y->keys) &&
               config_compare_same_texts(x->key, x->key_count, y->key, y->key_count);
    }
    return same;
}

/* A list followed by its count, as in the structs. */
struct texts {
    char **items;
    size_t count;
};

/* `a` and `b` are the structs to which the option's offset applies. */
static bool config_compare_same_value(const struct option *o, const void *a, const void *b)
{
    const void *x = (const char *)a + o->offset;
    const void *y = (const char *)b + o->offset;
    const struct texts *some = x;
    const struct texts *others = y;
    switch (o->type) {
    case OPTION_TEXT:
    case OPTION_PATH:
    case OPTION_JSON:
        return config_compare_same_text(*(char *const *)x, *(char *const *)y);
    case OPTION_FLAG:
        return *(const bool *)x == *(const bool *)y;
    case OPTION_COUNT:
    case OPTION_SIZE:
    case OPTION_DURATION:
        return *(const int64_t *)x == *(const int64_t *)y;
    case OPTION_SHARE:
        return memcmp(x, y, sizeof(double)) == 0;
    case OPTION_CHOICE:
        return *(const int *)x == *(const int *)y;
    case OPTION_SECRET:
        return config_compare_same_secret(x, y);
    case OPTION_LIST:
    case OPTION_TEXTS:
        return config_compare_same_texts(some->items, some->count, others->items, others->count);
    case OPTION_FIELDS:
        return config_compare_same_fields(a, b);
    case OPTION_DEPENDS:
        return config_compare_same_dependencies(&((const struct pipeline_config *)a)->from,
                                                &((const struct pipeline_config *)b)->from);
    case OPTION_GRADES:
    case OPTION_QUERIES: /* used by a command that reads the file itself */
    case OPTION_PIPELINES:
    case OPTION_UNREAD:
    default:
        return true;
    }
}

static bool config_compare_is_live(const struct option *o)
{
    return o->type == OPTION_SECRET || strncmp(o->path, "limits.", 7) == 0 ||
           strncmp(o->path, "delete_guard.", 13) == 0 || strncmp(o->path, "log.", 4) == 0;
}

static void config_compare_pipelines(const struct config *was, const struct config *is,
                                     config_difference tell, void *context)
{
    bool others = was->pipeline_count != is->pipeline_count;
    for (size_t i = 0; i < was->pipeline_count; i++) {
        const struct pipeline_config *a = &was->pipelines[i];
        const struct pipeline_config *b = config_pipeline(is, a->name);
        others = others || b == NULL;
        for (const struct option *o = options; b != NULL && o->path != NULL; o++) {
            if (o->scope != SCOPE_FILE && !config_compare_same_value(o, a, b)) {
                tell(context, o->path, a->name, config_compare_is_live(o));
            }
        }
    }
    if (others) {
        tell(context, "pipelines", NULL, false);
    }
}

void config_compare(const struct config *was, const struct config *is, config_difference tell,
                    void *context)
{
    for (const struct option *o = options; o->path != NULL; o++) {
        if (o->scope == SCOPE_FILE && !config_compare_same_value(o, was, is)) {
            tell(context, o->path, NULL, config_compare_is_live(o));
        }
    }
    config_compare_pipelines(was, is, tell, context);
}
