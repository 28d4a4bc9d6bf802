/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a field of a mapping and its children, with the service's error texts. */
#include "base/tree.h"
#include "mapping/mapping.h"

#include <stdlib.h>

/* Accepted parameters without a visible effect in devsearch. */
static const char *const everywhere[] = {"type",  "index", "store",  "doc_values",
                                         "boost", "meta",  "fields", NULL};

static const struct {
    enum family family;
    const char *const names[16];
} parameters[] = {
    {FAMILY_OBJECT, {"dynamic", "enabled", "properties", NULL}},
    {FAMILY_NESTED,
     {"dynamic", "enabled", "properties", "include_in_parent", "include_in_root", NULL}},
    {FAMILY_TEXT,
     {"analyzer", "search_analyzer", "norms", "index_options", "term_vector", "similarity",
      "position_increment_gap", "index_phrases", NULL}},
    {FAMILY_KEYWORD,
     {"ignore_above", "norms", "eager_global_ordinals", "index_options", "similarity",
      "split_queries_on_whitespace", NULL}},
    {FAMILY_INTEGER, {"coerce", "ignore_malformed", NULL}},
    {FAMILY_UNSIGNED, {"coerce", "ignore_malformed", NULL}},
    {FAMILY_REAL, {"coerce", "ignore_malformed", "scaling_factor", NULL}},
    {FAMILY_BOOLEAN, {"ignore_malformed", NULL}},
    {FAMILY_DATE, {"format", "locale", "ignore_malformed", "print_format", NULL}},
    {FAMILY_IP, {"ignore_malformed", NULL}},
    {FAMILY_BINARY, {NULL}},
    {FAMILY_FLAT, {"depth_limit", "ignore_above", NULL}},
    {FAMILY_GEO, {"ignore_malformed", "ignore_z_value", "orientation", "coerce", NULL}},
    {FAMILY_VECTOR,
     {"dimension", "method", "space_type", "data_type", "mode", "compression_level", "dims",
      "similarity", "index_options", "element_type", NULL}},
    {FAMILY_RANGE, {"coerce", "format", "locale", NULL}},
};

static bool in_list(const char *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool parameter_known(enum family family, const char *name)
{
    for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
        if (parameters[i].family == family && in_list(parameters[i].names, name)) {
            return true;
        }
    }
    return in_list(everywhere, name);
}

static bool flag(struct json_object *json, const char *name, bool fallback)
{
    struct json_object *value;
    if (!json_object_object_get_ex(json, name, &value)) {
        return fallback;
    }
    return strcmp(tree_text(value), "true") == 0;
}

static size_t count(struct json_object *json, const char *name)
{
    struct json_object *value;
    return json_object_object_get_ex(json, name, &value) ? (size_t)json_object_get_int64(value) : 0;
}

static int compile_dynamic(struct field *f, struct json_object *json, struct refusal *refusal)
{
    struct json_object *value;
    if (!json_object_object_get_ex(json, "dynamic", &value)) {
        return 0;
    }
    const char *text = tree_text(value);
    if (strcmp(text, "strict") == 0) {
        f->dynamic = DYNAMIC_STRICT;
    } else if (strcmp(text, "true") == 0) {
        f->dynamic = DYNAMIC_TRUE;
    } else if (strcmp(text, "false") == 0) {
        f->dynamic = DYNAMIC_FALSE;
    } else {
        refuse(refusal, 400, "mapper_parsing_exception",
               "Could not convert [%s.dynamic] to boolean",
               f->path[0] != '\0' ? f->path : "dynamic");
        refusal_cause(refusal, "illegal_argument_exception",
                      "Failed to parse value [%s] as only [true] or [false] are allowed.", text);
        return -1;
    }
    return 0;
}

static int compile_list(struct field **list, size_t *list_count, const char *parent_path,
                        struct json_object *json, enum product product, struct refusal *refusal)
{
    if (!json_object_is_type(json, json_type_object)) {
        return refuse(refusal, 400, "mapper_parsing_exception",
                      "Expected map for property [properties] on field [%s] but got a class "
                      "java.lang.String",
                      parent_path);
    }
    size_t n = tree_count(json);
    *list = mem_zero(n + 1, sizeof(**list));
    tree_foreach(json, name, value)
    {
        struct field *f = &(*list)[(*list_count)++];
        if (field_compile(f, name, parent_path, value, product, refusal) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Multi-fields read the same source path as their field. */
static void share_source(struct field *f)
{
    for (size_t i = 0; i < f->sub_count; i++) {
        free(f->subs[i].source_path);
        f->subs[i].source_path = text_copy(f->source_path);
    }
}

/* Reads the similarity; in OpenSearch it may be inside "method". */
static void compile_similarity(struct field *f, struct json_object *json)
{
    struct json_object *method;
    struct json_object *value = NULL;
    if (f->type->family != FAMILY_VECTOR) {
        return;
    }
    bool said = json_object_object_get_ex(json, "similarity", &value) ||
                json_object_object_get_ex(json, "space_type", &value) ||
                (json_object_object_get_ex(json, "method", &method) &&
                 json_object_object_get_ex(method, "space_type", &value));
    f->similarity = said ? text_copy(tree_text(value)) : NULL;
}

static int compile_parameters(struct field *f, struct json_object *json, struct refusal *refusal)
{
    struct json_object *value;
    f->enabled = flag(json, "enabled", true);
    f->indexed = flag(json, "index", true);
    f->doc_values = flag(json, "doc_values", true);
    f->coerce = flag(json, "coerce", true);
    f->ignore_malformed = flag(json, "ignore_malformed", false);
    f->ignore_above = count(json, "ignore_above");
    f->dimension = count(json, "dimension") + count(json, "dims");
    f->format = text_copy(json_object_object_get_ex(json, "format", &value) ? tree_text(value)
                                                                            : VALUE_DATE_FORMAT);
    if (!value_date_format_known(f->format)) {
        return refuse_unknown(refusal, "the date format [%s] of field [%s]", f->format, f->path);
    }
    if (json_object_object_get_ex(json, "analyzer", &value) &&
        strcmp(tree_text(value), "standard") != 0) {
        return refuse_unknown(refusal, "the analyzer [%s] of field [%s], only [standard]",
                              tree_text(value), f->path);
    }
    if (strcmp(f->type->name, "scaled_float") == 0 &&
        !json_object_object_get_ex(json, "scaling_factor", &value)) {
        return refuse(refusal, 400, "mapper_parsing_exception",
                      "Field [scaling_factor] is required");
    }
    compile_similarity(f, json);
    if (f->type->family == FAMILY_VECTOR && strcmp(f->type->name, "knn_vector") == 0 &&
        f->dimension == 0) {
        return refuse(refusal, 400, "mapper_parsing_exception",
                      "Dimension value missing for vector: %s", f->name);
    }
    return 0;
}

static int check_parameters(const struct field *f, struct json_object *json,
                            struct refusal *refusal)
{
    tree_foreach(json, name, value)
    {
        (void)value;
        if (strcmp(name, "copy_to") == 0 || strcmp(name, "null_value") == 0 ||
            strcmp(name, "normalizer") == 0) {
            return refuse_unknown(refusal, "the parameter [%s] of field [%s]", name, f->path);
        }
        if (!parameter_known(f->type->family, name)) {
            return refuse(refusal, 400, "mapper_parsing_exception",
                          "unknown parameter [%s] on mapper [%s] of type [%s]", name, f->name,
                          f->type->name);
        }
    }
    return 0;
}

static int find_type(struct field *f, struct json_object *json, enum product product,
                     struct refusal *refusal)
{
    struct json_object *value;
    const char *name = "object";
    if (json_object_object_get_ex(json, "type", &value)) {
        name = tree_text(value);
    } else if (!json_object_object_get_ex(json, "properties", &value) &&
               !json_object_object_get_ex(json, "dynamic", &value) &&
               !json_object_object_get_ex(json, "enabled", &value)) {
        return refuse(refusal, 400, "mapper_parsing_exception", "No type specified for field [%s]",
                      f->name);
    }
    f->type = field_type_find(name, product);
    if (f->type != NULL) {
        return 0;
    }
    return product == OPENSEARCH
               ? refuse(refusal, 400, "mapper_parsing_exception",
                        "No handler for type [%s] declared on field [%s]", name, f->name)
               : refuse(refusal, 400, "mapper_parsing_exception",
                        "The mapper type [%s] declared on field [%s] does not exist. It might "
                        "have been created within a future version or requires a plugin to be "
                        "installed. Check the documentation.",
                        name, f->name);
}

static char *join(const char *parent, const char *name)
{
    struct buf path;
    buf_init(&path, (size_t)1 << 20);
    buf_printf(&path, "%s%s%s", parent, parent[0] != '\0' ? "." : "", name);
    return buf_detach(&path);
}

int field_compile(struct field *f, const char *name, const char *parent_path,
                  struct json_object *json, enum product product, struct refusal *refusal)
{
    f->name = text_copy(name);
    f->path = join(parent_path, name);
    f->source_path = text_copy(f->path);
    f->type = field_type_find("object", product);
    if (!json_object_is_type(json, json_type_object)) {
        return refuse(refusal, 400, "mapper_parsing_exception",
                      "Expected map for property [fields] on field [%s] but got a class "
                      "java.lang.String",
                      name);
    }
    struct json_object *value;
    if (find_type(f, json, product, refusal) != 0 || check_parameters(f, json, refusal) != 0 ||
        compile_parameters(f, json, refusal) != 0 || compile_dynamic(f, json, refusal) != 0) {
        return -1;
    }
    if (json_object_object_get_ex(json, "properties", &value) &&
        compile_list(&f->children, &f->child_count, f->path, value, product, refusal) != 0) {
        return -1;
    }
    if (json_object_object_get_ex(json, "fields", &value) &&
        compile_list(&f->subs, &f->sub_count, f->path, value, product, refusal) != 0) {
        return -1;
    }
    share_source(f);
    return 0;
}

void field_release(struct field *f)
{
    for (size_t i = 0; i < f->child_count; i++) {
        field_release(&f->children[i]);
    }
    for (size_t i = 0; i < f->sub_count; i++) {
        field_release(&f->subs[i]);
    }
    free(f->children);
    free(f->subs);
    free(f->name);
    free(f->path);
    free(f->source_path);
    free(f->format);
    free(f->similarity);
    *f = (struct field){0};
}
