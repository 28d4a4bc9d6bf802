/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of arbitrary pairs, and the invariants of every batch. */
#include "fuzz.h"

#include <string.h>

#include "rowferry/base/text.h"

#define VERSION 1763719200000000
#define MAX_PAIRS 64

/* Returns the length of the UTF-8 character at `data`, or 0 if it is invalid. */
static size_t character_bytes(const uint8_t *data, size_t size)
{
    char quoted[8] = "\"";
    for (size_t n = 1; n <= 4 && n <= size; n++) {
        memcpy(quoted + 1, data, n);
        quoted[n + 1] = '"';
        if (n > 1 && json_valid(quoted, n + 2)) {
            return n;
        }
    }
    return *data > 0 && *data < 0x80;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = mem_zero(size + 1, 1);
    for (size_t i = 0; i < size;) {
        size_t n = character_bytes(data + i, size - i);
        if (n == 0) {
            text[i++] = '?';
        } else {
            memcpy(text + i, data + i, n);
            i += n;
        }
    }
    return text;
}

static struct column make_column(const char *name, const char *type);

/* Returns the length of the list's first type, which may contain commas in brackets. */
static size_t type_len(const char *types)
{
    int depth = 0;
    size_t len = 0;
    while (types[len] != '\0' && (types[len] != ',' || depth > 0)) {
        depth += types[len] == '(';
        depth -= types[len] == ')';
        len++;
    }
    return len;
}

/* Adds the parts of "int8,text[]" as fields a, b ... */
static void add_parts(struct column *c, const char *types)
{
    char name[] = "a";
    while (*types != '\0') {
        size_t len = type_len(types);
        char *type = text_copy_span(span_make(types, len));
        c->parts = mem_grow(c->parts, c->part_count + 1, sizeof(*c->parts));
        c->parts[c->part_count++] = make_column(name, type);
        free(type);
        name[0]++;
        types += len + (types[len] == ',');
    }
}

static struct column make_column(const char *name, const char *type)
{
    struct column c = {.name = text_copy(name), .declared = text_copy(type), .category = 'b'};
    size_t len = strlen(type);
    size_t head = strcspn(type, "(");
    if (len > 2 && strcmp(type + len - 2, "[]") == 0) {
        char *element = text_copy_span(span_make(type, len - 2));
        c.type = text_copy("_array");
        c.category = COLUMN_ARRAY;
        c.delimiter = ',';
        add_parts(&c, element);
        free(element);
    } else if (type[head] == '(') {
        char *parts = text_copy_span(span_make(type + head + 1, len - head - 2));
        c.type = text_copy_span(span_make(type, head));
        c.category = strstr(c.type, "multirange") != NULL ? 'm'
                     : strstr(c.type, "range") != NULL    ? 'r'
                                                          : 'c';
        add_parts(&c, parts);
        free(parts);
    } else {
        c.type = text_copy(type);
        c.category = strcmp(type, "mood") == 0 ? 'e' : 'b';
    }
    return c;
}

void fuzz_plan(struct fuzz_plan *p, const struct fuzz_pair *pairs, size_t count)
{
    struct buf json;
    struct err err;
    *p = (struct fuzz_plan){.columns = {mem_zero(count, sizeof(struct column)), count}};
    buf_init(&json, 65536);
    buf_push_literal(&json, "{\"dynamic\":true,\"properties\":{");
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "c%zu", i);
        p->columns.items[i] = make_column(name, pairs[i].type);
        buf_printf(&json, "%s\"c%zu\":%s", i > 0 ? "," : "", i, pairs[i].property);
    }
    buf_push_literal(&json, "}}");
    int rc = mapping_parse(&p->mapping, buf_text(&json), &err);
    FUZZ_EXPECT(rc == 0, "%s", err.message);
    buf_release(&json);
    struct plan_input in = {
        .mapping = &p->mapping, .columns = &p->columns, .document_bytes = 1 << 20};
    rc = plan_compile(&p->plan, &in, NULL, &err);
    FUZZ_EXPECT(rc == 0, "%s", err.message);
}

/* Expects two lines without control characters, except their ends. */
static void expect_lines(const char *bytes, size_t len, bool json)
{
    const char *first = memchr(bytes, '\n', len);
    FUZZ_EXPECT(first != NULL, "no line");
    size_t rest = len - (size_t)(first + 1 - bytes);
    const char *second = memchr(first + 1, '\n', rest);
    FUZZ_EXPECT(second != NULL && second + 1 == bytes + len, "not two lines: %.*s", (int)len,
                bytes);
    for (size_t i = 0; i < len; i++) {
        FUZZ_EXPECT((unsigned char)bytes[i] >= 0x20 || bytes + i == first || bytes + i == second,
                    "control character %d at %zu", bytes[i], i);
    }
    FUZZ_EXPECT(json_valid(bytes, (size_t)(first - bytes)), "%.*s", (int)len, bytes);
    if (json) {
        FUZZ_EXPECT(json_valid(first + 1, rest - 1), "%.*s", (int)len, bytes);
    }
}

static void add_delete(struct batch *b)
{
    struct refusal refusal;
    bool good = encode_delete(b, span_make("7", 1), VERSION, 1, &refusal);
    FUZZ_EXPECT(good, "%s", refusal.reason);
}

void fuzz_row(const struct fuzz_plan *p, const struct value *values, size_t count, bool json)
{
    struct batch b;
    struct refusal refusal;
    struct row row = {.values = values, .count = count};
    batch_init(&b, 1 << 20, 1 << 20, 100);
    add_delete(&b);
    size_t before = b.bytes.len;
    char *kept = text_copy(buf_text(&b.bytes));
    bool accepted = encode_upsert(&b, &p->plan, &row, VERSION, 1, &refusal);
    size_t end = b.bytes.len;
    if (accepted) {
        FUZZ_EXPECT(b.count == 2, "%zu operations", b.count);
        expect_lines(buf_text(&b.bytes) + before, end - before, json);
    } else {
        FUZZ_EXPECT(b.count == 1 && end == before, "%zu operations", b.count);
        FUZZ_EXPECT(refusal.reason != NULL && refusal.reason[0] != '\0', "no reason");
        FUZZ_EXPECT(memchr(refusal.beginning, '\0', sizeof(refusal.beginning)) != NULL, "no end");
    }
    add_delete(&b);
    FUZZ_EXPECT(memcmp(buf_text(&b.bytes), kept, before) == 0, "the first operation changed");
    FUZZ_EXPECT(b.bytes.len == end + before && memcmp(buf_text(&b.bytes) + end, kept, before) == 0,
                "the last operation is another: %s", buf_text(&b.bytes) + end);
    free(kept);
    batch_release(&b);
}

/* Returns true if only the encoder is responsible for valid JSON. */
static bool answers_for(const struct fuzz_pair *pair, const char *text, size_t len)
{
    if (strstr(pair->type, "json") == NULL) {
        return true;
    }
    return strcmp(pair->type, "json") == 0 || strcmp(pair->type, "jsonb") == 0
               ? json_valid(text, len)
               : false;
}

void fuzz_value(const struct fuzz_pair *pairs, size_t count, const uint8_t *data, size_t size)
{
    static struct fuzz_plan plans[MAX_PAIRS];
    if (size == 0 || count > MAX_PAIRS) {
        return;
    }
    size_t n = data[0] % count;
    if (plans[n].columns.count == 0) {
        fuzz_plan(&plans[n], &pairs[n], 1);
    }
    char *text = fuzz_text(data + 1, size - 1);
    struct value values[2] = {{.text = "1", .len = 1}, {.text = text, .len = size - 1}};
    fuzz_row(&plans[n], values, 2, answers_for(&pairs[n], text, size - 1));
    free(text);
}
