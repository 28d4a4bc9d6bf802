/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping: parsed once with json-c, completed and written for the service. */
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/document/json/json_build.h"
#include "rowferry/document/json/json_tree.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#define SOURCE_ID "source_id"
#define ONE_LINE (JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)

static const struct mapping_kind {
    const char *type;
    enum family family;
} kinds[] = {
    {"object", FAMILY_OTHER},
    {"nested", FAMILY_OTHER},
    {"flattened", FAMILY_OTHER},
    {"flat_object", FAMILY_OTHER},
    {"text", FAMILY_TEXT},
    {"match_only_text", FAMILY_TEXT},
    {"search_as_you_type", FAMILY_TEXT},
    {"date", FAMILY_TEXT},
    {"date_nanos", FAMILY_TEXT},
    {"ip", FAMILY_TEXT},
    {"binary", FAMILY_TEXT},
    {"keyword", FAMILY_KEYWORD},
    {"boolean", FAMILY_BOOLEAN},
    {"byte", FAMILY_WHOLE},
    {"short", FAMILY_WHOLE},
    {"integer", FAMILY_WHOLE},
    {"long", FAMILY_WHOLE},
    {"unsigned_long", FAMILY_WHOLE},
    {"half_float", FAMILY_HALF_FLOAT},
    {"float", FAMILY_FLOAT},
    {"double", FAMILY_DOUBLE},
    {"scaled_float", FAMILY_DOUBLE},
    {"rank_feature", FAMILY_FEATURE},
    {"rank_features", FAMILY_OTHER},
    {"geo_point", FAMILY_OTHER},
    {"alias", FAMILY_OTHER},
    {"completion", FAMILY_OTHER},
    {"wildcard", FAMILY_OTHER},
    {"version", FAMILY_OTHER},
    {"semantic", FAMILY_OTHER},
    {"semantic_text", FAMILY_OTHER},
    {"geo_shape", FAMILY_OTHER},
    {"dense_vector", FAMILY_OTHER},
    {"knn_vector", FAMILY_OTHER},
    {"sparse_vector", FAMILY_OTHER},
    {"integer_range", FAMILY_OTHER},
    {"long_range", FAMILY_OTHER},
    {"float_range", FAMILY_OTHER},
    {"double_range", FAMILY_OTHER},
    {"date_range", FAMILY_OTHER},
    {"ip_range", FAMILY_OTHER},
    {NULL, FAMILY_OTHER},
};

const char *mapping_meant_type(const char *type)
{
    static const char *const twins[][2] = {{"flat_object", "flattened"},
                                           {"flattened", "flat_object"},
                                           {"knn_vector", "dense_vector"},
                                           {"dense_vector", "knn_vector"}};
    const char *names[sizeof(kinds) / sizeof(kinds[0])];
    for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++) {
        if (strcmp(type, twins[i][0]) == 0) {
            return twins[i][1];
        }
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        names[i] = kinds[i].type; /* the last is null */
    }
    return text_nearest(type, names);
}

/* Parses the whole text as one JSON object, or returns null. */
static struct json_object *mapping_parse_object(const char *json)
{
    struct json_object *object = json_tree_of(json);
    if (!json_tree_is_object(object)) {
        json_object_put(object);
        return NULL;
    }
    return object;
}

/* Returns the member's text (booleans and numbers included), or null. The caller frees it. */
static char *mapping_member_text(struct json_object *object, const char *name)
{
    struct json_object *value = json_tree_member(object, name);
    return value != NULL ? text_copy(json_build_words(value)) : NULL;
}

static int64_t mapping_member_int(struct json_object *object, const char *name)
{
    return json_object_get_int64(json_tree_member(object, name));
}

static void mapping_property_release(struct property *p)
{
    for (size_t i = 0; i < p->child_count; i++) {
        mapping_property_release(&p->children[i]);
    }
    free(p->children);
    free(p->name);
    free(p->type);
    free(p->format);
    free(p->dynamic);
    free(p->element_type);
    free(p->similarity);
}

/* The object that contains the properties. */
struct mapping_place {
    const char *path; /* its name in messages, "author"; null: the mapping itself */
    bool strict;      /* inherited value of "dynamic" */
};

static int mapping_parse_properties(struct property **out, size_t *count,
                                    struct json_object *properties, struct mapping_place place,
                                    struct err *err);

/* Returns the given type, or "object" if other members imply it, else null. */
static char *mapping_property_type(struct json_object *json)
{
    struct json_object *type = json_tree_member(json, "type");
    if (type != NULL) {
        return json_object_is_type(type, json_type_string) ? mapping_member_text(json, "type")
                                                           : NULL;
    }
    bool object = json_tree_member(json, "properties") != NULL ||
                  json_tree_member(json, "enabled") != NULL ||
                  json_tree_member(json, "dynamic") != NULL;
    return object ? text_copy("object") : NULL;
}

/* Returns false if the member is present and false. */
static bool mapping_member_is_on(struct json_object *object, const char *name)
{
    struct json_object *value = json_tree_member(object, name);
    return value == NULL || json_object_get_boolean(value);
}

static void mapping_parse_kind(struct property *p, bool strict)
{
    const struct mapping_kind *kind = kinds;
    while (kind->type != NULL && strcmp(kind->type, p->type) != 0) {
        kind++;
    }
    p->name_len = strlen(p->name);
    p->family = kind->family;
    p->strict = p->dynamic != NULL ? strcmp(p->dynamic, "strict") == 0 : strict;
}

/* Returns the value of the first of two spellings that is present. */
static char *mapping_either_text(struct json_object *json, const char *one, const char *other)
{
    char *text = mapping_member_text(json, one);
    return text != NULL ? text : mapping_member_text(json, other);
}

/* Parses members that the products name differently and that OpenSearch also allows inside
 * "method". */
static void mapping_parse_vector(struct property *p, struct json_object *json)
{
    struct json_object *method = json_tree_member(json, "method");
    p->dimension = mapping_member_int(json, "dims");
    if (p->dimension == 0) {
        p->dimension = mapping_member_int(json, "dimension");
    }
    p->element_type = mapping_either_text(json, "element_type", "data_type");
    p->similarity = mapping_either_text(json, "similarity", "space_type");
    if (p->similarity == NULL && json_tree_is_object(method)) {
        p->similarity = mapping_member_text(method, "space_type");
    }
    p->indexed = mapping_member_is_on(json, "index");
}

static void mapping_parse_parameters(struct property *p, struct json_object *json)
{
    p->format = mapping_member_text(json, "format");
    p->dynamic = mapping_member_text(json, "dynamic");
    mapping_parse_vector(p, json);
    p->ignore_above = mapping_member_int(json, "ignore_above");
    p->scaling_factor = json_object_get_double(json_tree_member(json, "scaling_factor"));
    p->enabled = mapping_member_is_on(json, "enabled");
}

/* `path` is the property's own, such as "author.name". */
static int mapping_parse_property(struct property *p, struct json_object *json, const char *path,
                                  bool strict, struct err *err)
{
    if (p->name[0] == '\0') {
        return err_set(err, ERR_CONFIG, "the mapping has a property with an empty name");
    }
    if (!json_tree_is_object(json)) {
        return err_set(err, ERR_CONFIG, "property \"%s\" of the mapping is not an object", path);
    }
    p->type = mapping_property_type(json);
    if (p->type == NULL) {
        err_set(err, ERR_CONFIG, "property \"%s\" of the mapping has no \"type\"", path);
        return err_hint(err, "write {\"type\": \"keyword\"}, for example");
    }
    mapping_parse_parameters(p, json);
    mapping_parse_kind(p, strict);
    struct json_object *children = json_tree_member(json, "properties");
    struct mapping_place place = {path, p->strict};
    return children == NULL
               ? 0
               : mapping_parse_properties(&p->children, &p->child_count, children, place, err);
}

static int mapping_parse_properties(struct property **out, size_t *count,
                                    struct json_object *properties, struct mapping_place place,
                                    struct err *err)
{
    const char *path = place.path;
    if (!json_tree_is_object(properties)) {
        return err_set(err, ERR_CONFIG, "\"properties\" of %s is not an object",
                       path != NULL ? path : "the mapping");
    }
    size_t n = json_tree_count(properties);
    *out = mem_zero(n + 1, sizeof(**out)); /* never null, even without properties */
    for (struct json_members m = json_tree_members(properties); json_tree_next(&m);) {
        struct property *p = &(*out)[(*count)++];
        p->name = text_copy(m.name);
        struct buf full;
        buf_init(&full, 4096);
        buf_printf(&full, "%s%s%s", path != NULL ? path : "", path != NULL ? "." : "", m.name);
        int result = mapping_parse_property(p, m.value, buf_text(&full), place.strict, err);
        buf_release(&full);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

/* The services take true and false as texts too. */
const char *mapping_source_id_fault(struct json_object *property, size_t key_max_bytes)
{
    static const char *const others[] = {"normalizer", "script"};
    char *doc_values = mapping_member_text(property, "doc_values");
    bool unsorted = doc_values != NULL && strcmp(doc_values, "false") == 0;
    free(doc_values);
    if (property == NULL) {
        return NULL;
    }
    if (strcmp(json_tree_text(property, "type"), "keyword") != 0) {
        return "type";
    }
    int64_t ignore_above = mapping_member_int(property, "ignore_above");
    if (ignore_above != 0 && ignore_above < (int64_t)key_max_bytes) {
        return "ignore_above";
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (json_tree_member(property, others[i]) != NULL) {
            return others[i];
        }
    }
    return unsorted ? "doc_values" : NULL;
}

/* source_id sorts and identifies: a keyword that leaves nothing out and changes nothing. */
static int mapping_check_source_id(const struct mapping *m, struct json_object *properties,
                                   struct err *err)
{
    const struct property *p = mapping_find(m, SOURCE_ID);
    const char *fault = mapping_source_id_fault(json_tree_member(properties, SOURCE_ID), 0);
    if (p == NULL || (fault == NULL && p->ignore_above == 0)) {
        return 0;
    }
    if (fault == NULL || strcmp(fault, "type") == 0) {
        fault = "ignore_above";
    }
    err_set(err, ERR_CONFIG, "property \"" SOURCE_ID "\" must be a keyword without \"%s\"%s", fault,
            strcmp(fault, "doc_values") == 0 ? ": false" : "");
    return err_hint(err, "remove it from the mapping: rowferry adds it");
}

static int mapping_parse_root(struct mapping *out, struct json_object *json, struct err *err)
{
    struct json_object *properties = json_tree_member(json, "properties");
    struct json_object *meta = json_tree_member(json, "_meta");
    if (properties == NULL) {
        err_set(err, ERR_CONFIG, "\"mappings\" has no \"properties\"");
        return err_hint(err, "name at least one: {\"properties\": {\"title\": {\"type\": "
                             "\"text\"}}}");
    }
    if (meta != NULL && !json_tree_is_object(meta)) {
        return err_set(err, ERR_CONFIG, "\"_meta\" of \"mappings\" is not an object");
    }
    out->dynamic = mapping_member_text(json, "dynamic");
    out->json = text_copy(json_build_string(json, ONE_LINE));
    struct mapping_place root = {NULL, out->dynamic == NULL || strcmp(out->dynamic, "strict") == 0};
    int result = mapping_parse_properties(&out->properties, &out->count, properties, root, err);
    return result < 0 ? result : mapping_check_source_id(out, properties, err);
}

int mapping_parse(struct mapping *out, const char *json, struct err *err)
{
    *out = (struct mapping){0};
    struct json_object *object = mapping_parse_object(json);
    if (object == NULL) {
        return err_set(err, ERR_CONFIG, "\"mappings\" is not a JSON object");
    }
    int result = mapping_parse_root(out, object, err);
    json_object_put(object);
    if (result < 0) {
        mapping_release(out);
    }
    return result;
}

void mapping_release(struct mapping *m)
{
    for (size_t i = 0; i < m->count; i++) {
        mapping_property_release(&m->properties[i]);
    }
    free(m->properties);
    free(m->dynamic);
    free(m->json);
    *m = (struct mapping){0};
}

const struct property *mapping_find(const struct mapping *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->properties[i].name, name) == 0) {
            return &m->properties[i];
        }
    }
    return NULL;
}

/* Adds the properties that rowferry fills. provenance is stored only: nothing searches it. */
static void mapping_add_own(struct json_object *mappings, bool provenance)
{
    struct json_object *properties = json_tree_member(mappings, "properties");
    if (provenance) {
        struct json_object *object = json_build_object();
        json_build_member(object, "type", json_build_text("object"));
        json_build_member(object, "enabled", json_build_bool(false));
        json_build_member(properties, MAPPING_PROVENANCE, object);
    }
    if (json_tree_member(properties, SOURCE_ID) == NULL) {
        struct json_object *keyword = json_build_object();
        json_build_member(keyword, "type", json_build_text("keyword"));
        json_build_member(properties, SOURCE_ID, keyword);
    }
}

static void mapping_add_meta(struct json_object *mappings, const char *meta_json)
{
    struct json_object *meta = json_tree_member(mappings, "_meta");
    if (meta == NULL) {
        meta = json_build_object();
        json_build_member(mappings, "_meta", meta);
    }
    struct json_object *ours = meta_json != NULL ? mapping_parse_object(meta_json) : NULL;
    if (ours != NULL) {
        json_build_member(meta, "rowferry", ours);
    }
}

void mapping_write(struct buf *out, const struct mapping *m, const char *meta_json)
{
    struct json_object *mappings = mapping_parse_object(m->json);
    if (mappings == NULL) {
        abort(); /* the text was written by json-c itself */
    }
    mapping_add_own(mappings, m->provenance);
    if (m->dynamic == NULL) {
        json_build_member(mappings, "dynamic", json_build_text("strict"));
    }
    mapping_add_meta(mappings, meta_json);
    buf_push_text(out, json_build_string(mappings, ONE_LINE));
    json_object_put(mappings);
}

/* Returns the field that the path names next; names may contain dots. *rest is the remaining
 * path. */
static struct json_object *mapping_field_within(struct json_object *fields, const char *path,
                                                const char **rest)
{
    for (struct json_members m = json_tree_members(fields); json_tree_next(&m);) {
        size_t len = strlen(m.name);
        if (strncmp(path, m.name, len) == 0 && (path[len] == '\0' || path[len] == '.')) {
            *rest = path + len + (path[len] == '.' ? 1 : 0);
            return m.value;
        }
    }
    return NULL;
}

char *mapping_parameter(const struct mapping *m, const char *path, const char *parameter)
{
    struct json_object *mappings = mapping_parse_object(m->json);
    struct json_object *at = mappings;
    const char *rest = path;
    while (at != NULL && *rest != '\0') {
        struct json_object *inside =
            mapping_field_within(json_tree_member(at, "properties"), rest, &rest);
        at = inside != NULL ? inside
                            : mapping_field_within(json_tree_member(at, "fields"), rest, &rest);
    }
    char *text = at != NULL ? mapping_member_text(at, parameter) : NULL;
    json_object_put(mappings);
    return text;
}

char *mapping_keyword_of(const struct mapping *m, const char *path)
{
    char *name = NULL;
    char *fields = mapping_parameter(m, path, "fields");
    struct json_object *tree = fields != NULL ? json_tree_of(fields) : NULL;
    for (struct json_members f = json_tree_members(tree); name == NULL && json_tree_next(&f);) {
        if (strcmp(json_tree_text(f.value, "type"), "keyword") == 0) {
            name = text_copy(f.name);
        }
    }
    json_object_put(tree);
    free(fields);
    return name;
}

void mapping_fingerprint(char out[17], const struct mapping *m)
{
    uint64_t hash = text_hash(m->json, strlen(m->json));
    snprintf(out, 17, "%016llx", (unsigned long long)hash);
}
