/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark of the encoder, without a database: encodes the same row repeatedly into a batch.
 *
 *   encoder [TABLE [DOCUMENTS]]  prints "TABLE bytes-per-document ns-per-document"
 *
 * gate.sh runs it under callgrind and counts instructions instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "rowferry/document/bulk/encode.h"

struct cell {
    const char *name;
    const char *type; /* "text[]" for an array */
    const char *property;
    const char *text; /* null: NULL */
};

#define WORDS                                                                                      \
    "he quick ferry carries words \xe2\x80\x94 gr\xc3\xbc\xc3\x9f"                                 \
    "e \xe2\x80\x94 away over calm and rough water, day by day; "

static const struct cell narrow[] = {
    {"id", "int8", "long", "4711"},
    {"name", "text", "keyword", "night crossing"},
};

static const struct cell events[] = {
    {"id", "int8", "long", "471100"},
    {"uuid", "uuid", "keyword", "d0bb4ecb-8a6e-4c65-a7fb-1e1d7c4b7ad4"},
    {"kind", "text", "keyword", "refund"},
    {"user_id", "int4", "integer", "40900"},
    {"amount", "numeric", "scaled_float", "82719.00"},
    {"score", "float8", "double", "686.3672733"},
    {"active", "bool", "boolean", "f"},
    {"created_at", "timestamptz", "date", "2024-01-06 10:54:28.1827+00"},
    {"day", "date", "date", "2024-04-25"},
    {"title", "text", "text", "Event 471100 of \"harbour\""},
    {"body", "text", "text", WORDS WORDS},
    {"tags", "text[]", "keyword", "{tag0,tag0,\"group 0\"}"},
    {"payload", "jsonb", "flattened",
     "{\"ip\": \"10.0.60.67\", \"path\": \"/crossings/100/seats\", \"depth\": 3, \"flags\": [0, "
     "0], "
     "\"source\": \"web\"}"},
};

#define FOUR(a)                                                                                    \
    {a "1", "int4", "integer", "12345"}, {a "2", "text", "keyword", "a short text"},               \
        {a "3", "numeric", "double", "1234.5678"},                                                 \
    {                                                                                              \
        a "4", "bool", "boolean", "t"                                                              \
    }
#define TWENTY(a) FOUR(a "a"), FOUR(a "b"), FOUR(a "c"), FOUR(a "d"), FOUR(a "e")

static const struct cell wide[] = {TWENTY("w"), TWENTY("x"), TWENTY("y"), TWENTY("z")};

static const struct cell hostile[] = {
    {"controls", "text", "text", "\x01\x02\n\r\t\b\"\\\"\\\"\\\"\\\n\n\n\n\x1f\x1e\x1d\"\"\"\""},
    {"marks", "text", "keyword", "a\"b\"c\"d\"e\"f\"g\"h\"i\"j\"k\"l\"m\"n\"o\"p\"q\"r\"s\"t\"u"},
    {"emoji", "text", "text", "\xf0\x9f\x90\x98\xf0\x9f\x90\x98\xe2\x80\xa8\xf0\x9f\x90\x98"},
    {"digits", "numeric", "double", "-1234567890123456789012345678901234567890.12345678901234567"},
    {"array", "text[]", "keyword", "{{\"\\\"\",NULL},{\"\\\\\",\"a,b{}\"}}"},
    {"json", "jsonb", "flattened", "{\"\\\"\": [[[[[{\"\\n\": \"\\\\\"}]]]]], \"b\": 1e400}"},
};

/* Filled by main: 100 KB of WORDS. */
static struct cell big[] = {
    {"id", "int8", "long", "471100"},
    {"body", "text", "text", NULL},
};

struct table {
    const char *name;
    const struct cell *cells;
    size_t count;
};

#define TABLE(cells)                                                                               \
    {                                                                                              \
#cells, cells, sizeof(cells) / sizeof(cells[0])                                            \
    }

static const struct table tables[] = {TABLE(narrow), TABLE(events), TABLE(wide), TABLE(hostile),
                                      TABLE(big)};

struct subject {
    struct mapping mapping;
    struct columns columns;
    struct plan plan;
    struct row row;
    struct value *values;
};

static void fail(const char *message)
{
    fprintf(stderr, "encoder: %s\n", message);
    exit(EXIT_FAILURE);
}

static struct column make_column(const struct cell *cell)
{
    size_t len = strlen(cell->type);
    bool array = cell->type[len - 1] == ']';
    struct column c = {
        .name = text_copy(cell->name),
        .type = text_copy(cell->type),
        .declared = text_copy(cell->type),
        .category = array ? COLUMN_ARRAY : 'b',
        .delimiter = ',',
    };
    if (array) {
        c.parts = mem_zero(1, sizeof(struct column));
        c.parts[c.part_count++] =
            (struct column){.name = text_copy("element"),
                            .type = text_copy_span(span_make(cell->type, len - 2)),
                            .declared = text_copy_span(span_make(cell->type, len - 2)),
                            .category = 'b'};
    }
    return c;
}

static void compile(struct subject *s, const struct table *table)
{
    struct err err;
    struct buf json;
    buf_init(&json, 1 << 20);
    buf_push_literal(&json, "{\"properties\":{");
    for (size_t i = 0; i < table->count; i++) {
        buf_printf(&json, "%s\"%s\":{\"type\":\"%s\"}", i > 0 ? "," : "", table->cells[i].name,
                   table->cells[i].property);
    }
    buf_push_literal(&json, "}}");
    struct plan_input in = {&s->mapping, &s->columns, NULL, 0, 16 << 20};
    if (mapping_parse(&s->mapping, buf_text(&json), &err) < 0 ||
        plan_compile(&s->plan, &in, NULL, &err) < 0) {
        fail(err.message);
    }
    buf_release(&json);
}

static void prepare(struct subject *s, const struct table *table)
{
    *s = (struct subject){0};
    s->columns.items = mem_zero(table->count, sizeof(struct column));
    s->values = mem_zero(table->count + 1, sizeof(struct value));
    s->values[0] = (struct value){.text = "471100", .len = 6};
    for (size_t i = 0; i < table->count; i++) {
        const char *text = table->cells[i].text;
        s->columns.items[s->columns.count++] = make_column(&table->cells[i]);
        s->values[i + 1] = (struct value){text, strlen(text), false};
    }
    s->row = (struct row){.values = s->values, .count = table->count + 1};
    compile(s, table);
}

static void release(struct subject *s)
{
    plan_release(&s->plan);
    mapping_release(&s->mapping);
    row_columns_release(&s->columns);
    free(s->values);
}

static size_t encode_documents(struct subject *s, struct batch *b, long documents)
{
    struct refusal refusal;
    size_t bytes = 0;
    for (long i = 0; i < documents; i++) {
        if (batch_full(b)) {
            batch_reset(b);
        }
        if (!encode_upsert(b, &s->plan, &s->row, INT64_C(1763719200000000) + i, 1, &refusal)) {
            fail(refusal.reason);
        }
        bytes = b->operations[b->count - 1].len;
    }
    return bytes;
}

static void measure(const struct table *table, long documents)
{
    struct subject s;
    struct batch b;
    struct clock clock = clock_system();
    prepare(&s, table);
    batch_init(&b, 5 << 20, 16 << 20, 5000);
    (void)encode_documents(&s, &b, documents / 10);
    int64_t start = clock_monotonic_us(&clock);
    size_t bytes = encode_documents(&s, &b, documents);
    int64_t took_us = clock_monotonic_us(&clock) - start;
    printf("%-8s %5zu bytes %7.1f ns\n", table->name, bytes,
           (double)took_us * 1000 / (double)documents);
    batch_release(&b);
    release(&s);
}

static void fill_big(struct buf *text)
{
    buf_init(text, 1 << 20);
    while (text->len < 100000) {
        buf_push_literal(text, WORDS);
    }
    big[1].text = buf_text(text);
}

int main(int argc, char **argv)
{
    struct buf body;
    long documents = argc > 2 ? strtol(argv[2], NULL, 10) : 1000000;
    bool known = false;
    fill_big(&body);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (argc < 2 || strcmp(argv[1], tables[i].name) == 0) {
            measure(&tables[i], documents);
            known = true;
        }
    }
    buf_release(&body);
    if (!known || documents < 1) {
        fail("expects a table (narrow, events, wide, hostile, big) and a number of documents");
    }
    return EXIT_SUCCESS;
}
