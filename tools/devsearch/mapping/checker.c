/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a document against its mapping. */
#include "mapping/checker.h"
#include "mapping/guess.h"

#include <json-c/json.h>
#include <stdlib.h>

static int check_members(struct checker *c, const struct field *parent, enum dynamic dynamic);

const char *check_type(const struct checker *c)
{
    return c->product == OPENSEARCH ? "mapper_parsing_exception" : "document_parsing_exception";
}

void check_push_place(struct checker *c, const char *at, struct buf *out)
{
    if (c->product == ELASTICSEARCH) {
        size_t line;
        size_t column;
        reader_place(&c->reader, at, &line, &column);
        buf_printf(out, "[%zu:%zu] ", line, column);
    }
}

/* Starts the refusal of a document; the caller appends to its reason. */
static void start(struct checker *c, const char *type, const char *at)
{
    refuse(c->refusal, 400, type, "%s", "");
    check_push_place(c, at, &c->refusal->reason);
}

int check_broken(struct checker *c)
{
    start(c, check_type(c), c->reader.at);
    buf_push_literal(&c->refusal->reason, "failed to parse");
    refusal_cause(c->refusal,
                  c->reader.problem_type != NULL ? c->reader.problem_type : "json_parse_exception",
                  "%s", buf_text(&c->reader.problem));
    return -1;
}

static int broken_as(struct checker *c, const char *type, const char *reason)
{
    start(c, check_type(c), c->reader.at);
    buf_push_literal(&c->refusal->reason, "failed to parse");
    refusal_cause(c->refusal, type, "%s", reason);
    return -1;
}

static int not_an_object(struct checker *c, const struct field *f, bool in_array, const char *at)
{
    start(c, check_type(c), at);
    buf_printf(&c->refusal->reason,
               "object mapping for [%s] tried to parse field [%s] as object, but found a concrete "
               "value",
               f->path, in_array ? "null" : f->name);
    return -1;
}

static int check_object(struct checker *c, const struct field *f, enum dynamic dynamic,
                        bool in_array)
{
    enum token token = reader_peek(&c->reader);
    bool begun = false;
    int more;
    switch (token) {
    case TOKEN_NULL:
        return reader_skip(&c->reader, NULL) == 0 ? 0 : check_broken(c);
    case TOKEN_OBJECT:
        return check_members(c, f, f->dynamic != DYNAMIC_INHERIT ? f->dynamic : dynamic);
    case TOKEN_ARRAY:
        if (reader_enter(&c->reader) != 0) {
            return check_broken(c);
        }
        while ((more = reader_element(&c->reader, &begun)) > 0) {
            if (check_object(c, f, dynamic, true) != 0) {
                return -1;
            }
        }
        return more == 0 ? 0 : check_broken(c);
    case TOKEN_END:
    case TOKEN_BAD:
        reader_skip(&c->reader, NULL);
        return check_broken(c);
    default:
        return not_an_object(c, f, in_array, c->reader.at);
    }
}

static int introduce(struct checker *c, const struct field *parent, struct span key,
                     enum dynamic dynamic)
{
    const char *dot = memchr(key.data, '.', key.len);
    size_t first = dot != NULL ? (size_t)(dot - key.data) : key.len;
    reader_peek(&c->reader);
    if (dynamic == DYNAMIC_STRICT) {
        start(c, "strict_dynamic_mapping_exception", c->reader.at);
        buf_printf(&c->refusal->reason,
                   "mapping set to strict, dynamic introduction of [%.*s] "
                   "within [%s] is not allowed",
                   (int)first, key.data, parent->path[0] != '\0' ? parent->path : "_doc");
        return -1;
    }
    if (dynamic == DYNAMIC_FALSE) {
        return reader_skip(&c->reader, NULL) == 0 ? 0 : check_broken(c);
    }
    struct buf path;
    buf_init(&path, 65536);
    buf_printf(&path, "%s%s%.*s", parent->path, parent->path[0] != '\0' ? "." : "", (int)key.len,
               key.data);
    int rc = guess_add(&c->out->additions, buf_text(&path), &c->reader);
    buf_release(&path);
    return rc == 0 ? 0 : check_broken(c);
}

static int path_through_leaf(struct checker *c, const struct field *leaf, struct span key)
{
    start(c, check_type(c), c->reader.at);
    buf_printf(&c->refusal->reason,
               "Could not dynamically add mapping for field [%.*s]. Existing mapping for [%s] must "
               "be of type object but found [%s].",
               (int)key.len, key.data, leaf->path, leaf->type->name);
    return -1;
}

static bool holds_fields(const struct field *f)
{
    return f->type->family == FAMILY_OBJECT || f->type->family == FAMILY_NESTED;
}

/* Checks the value of a key, which may be a dotted path. */
static int check_key(struct checker *c, const struct field *parent, struct span key,
                     enum dynamic dynamic)
{
    struct span rest = key;
    const struct field *f = field_child(parent, rest);
    const char *dot;
    while (f == NULL && (dot = memchr(rest.data, '.', rest.len)) != NULL) {
        const struct field *inner =
            field_child(parent, span_make(rest.data, (size_t)(dot - rest.data)));
        if (inner == NULL) {
            break;
        }
        if (!holds_fields(inner)) {
            return path_through_leaf(c, inner, key);
        }
        parent = inner;
        dynamic = inner->dynamic != DYNAMIC_INHERIT ? inner->dynamic : dynamic;
        rest = span_make(dot + 1, (size_t)(rest.data + rest.len - dot - 1));
        f = field_child(parent, rest);
    }
    if (f == NULL) {
        return introduce(c, parent, rest, dynamic);
    }
    if (!holds_fields(f)) {
        return check_leaf(c, f);
    }
    if (!f->enabled) {
        return reader_skip(&c->reader, NULL) == 0 ? 0 : check_broken(c);
    }
    return check_object(c, f, dynamic, false);
}

static int metadata_inside(struct checker *c, struct span key)
{
    char *name = text_copy_span(key);
    struct span value;
    if (reader_text(&c->reader, &c->text, &value) != 0) {
        value = span_make("", 0);
    }
    start(c, check_type(c), c->reader.at);
    buf_printf(&c->refusal->reason,
               "failed to parse field [%s] of type [%s] in document with id '%.*s'. Preview of "
               "field's value: '%.*s'",
               name, name, (int)c->id.len, c->id.data, (int)value.len, value.data);
    refusal_cause(c->refusal, check_type(c),
                  "Field [%s] is a metadata field and cannot be added inside a document. Use the "
                  "index API request parameters.",
                  name);
    refusal_root_is_cause(c->refusal);
    free(name);
    return -1;
}

static bool is_metadata(struct span key)
{
    static const char *const names[] = {"_id",          "_index",  "_source",  "_routing",
                                        "_field_names", "_seq_no", "_version", "_ignored",
                                        "_nested_path", NULL};
    for (const char *const *name = names; *name != NULL; name++) {
        if (span_is(key, *name)) {
            return true;
        }
    }
    return false;
}

static int check_members(struct checker *c, const struct field *parent, enum dynamic dynamic)
{
    struct members mark = {0};
    struct span key;
    struct buf name;
    int more;
    if (reader_enter(&c->reader) != 0) {
        return check_broken(c);
    }
    buf_init(&name, (size_t)1 << 20);
    while ((more = reader_member(&c->reader, &mark, &key)) > 0) {
        buf_reset(&name);
        if (key.data == c->reader.key.data && key.len > 0) {
            buf_push(&name, key.data, key.len);
            key = span_make(name.data, name.len);
        }
        if (key.len == 0) {
            more =
                broken_as(c, "illegal_argument_exception", "field name cannot be an empty string");
            break;
        }
        bool root = parent == &c->mapping->root;
        if (root && is_metadata(key)) {
            more = metadata_inside(c, key);
            break;
        }
        if (check_key(c, parent, key, dynamic) != 0) {
            more = -1;
            break;
        }
    }
    buf_release(&name);
    if (more < 0 && c->refusal->status == 0) {
        return check_broken(c);
    }
    return more;
}

static int check_root(struct checker *c)
{
    enum token token = reader_peek(&c->reader);
    if (token == TOKEN_END) {
        start(c, check_type(c), c->reader.at);
        buf_push_literal(&c->refusal->reason, "failed to parse, document is empty");
        return -1;
    }
    if (token != TOKEN_OBJECT) {
        return broken_as(c, "not_x_content_exception",
                         "Compressor detection can only be called on some xcontent bytes or "
                         "compressed xcontent bytes");
    }
    enum dynamic dynamic = c->mapping->root.dynamic;
    if (check_members(c, &c->mapping->root, dynamic != DYNAMIC_INHERIT ? dynamic : DYNAMIC_TRUE) !=
        0) {
        return -1;
    }
    return reader_finish(&c->reader) == 0 ? 0 : check_broken(c);
}

int check_document(const struct mapping *m, struct span source, struct span id,
                   enum product product, struct checked *out, struct refusal *refusal)
{
    struct checker c = {.mapping = m, .product = product, .id = id, .out = out, .refusal = refusal};
    *out = (struct checked){.text_count = m->text_count};
    out->texts = mem_zero(m->text_count + 1, sizeof(*out->texts));
    for (size_t i = 0; i < m->text_count; i++) {
        buf_init(&out->texts[i], (size_t)128 << 20);
    }
    buf_init(&c.text, (size_t)128 << 20);
    buf_init(&c.preview, (size_t)1 << 20);
    reader_init(&c.reader, source);
    refusal->status = 0;
    int rc = check_root(&c);
    reader_release(&c.reader);
    buf_release(&c.text);
    buf_release(&c.preview);
    return rc;
}

void checked_release(struct checked *c)
{
    for (size_t i = 0; i < c->text_count; i++) {
        buf_release(&c->texts[i]);
    }
    free(c->texts);
    json_object_put(c->additions);
    *c = (struct checked){0};
}
