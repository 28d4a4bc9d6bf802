/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one value through plan and encoder, for the tests of the converters: a property `p` filled
 * from one column, or the refusal. */
#pragma once

#include <stdlib.h>

#include "rowferry/document/bulk/encode.h"
#include "rows.h"

#define MAX_DOCUMENT 100000

struct bench {
    struct mapping mapping;
    struct columns columns;
    struct plan plan;
    struct batch batch;
};

static inline void bench_open(struct bench *t, const char *json, const char *const *pairs,
                              size_t document_bytes)
{
    struct err err;
    *t = (struct bench){0};
    t->columns = rows_columns(pairs);
    ck_assert_int_eq(mapping_parse(&t->mapping, json, &err), 0);
    struct plan_input in = {&t->mapping, &t->columns, NULL, 0, document_bytes};
    ck_assert_msg(plan_compile(&t->plan, &in, NULL, &err) == 0, "%s", err.message);
    batch_init(&t->batch, 1000000, document_bytes, 1000);
}

static inline void bench_close(struct bench *t)
{
    plan_release(&t->plan);
    mapping_release(&t->mapping);
    row_columns_release(&t->columns);
    batch_release(&t->batch);
}

static inline void open_one(struct bench *t, const char *type, const char *property)
{
    struct buf json;
    buf_init(&json, 4096);
    buf_printf(&json, "{\"dynamic\":true,\"properties\":{\"p\":%s}}", property);
    bench_open(t, buf_text(&json), (const char *[]){"p", type, NULL}, MAX_DOCUMENT);
    buf_release(&json);
}

static inline bool encode(struct bench *t, const char *key, const char *text,
                          struct refusal *refusal)
{
    struct value values[2] = {rows_value(key), rows_value(text)};
    struct row row = {.values = values, .count = 2};
    return encode_upsert(&t->batch, &t->plan, &row, 5, 1, refusal);
}

#define ACTION "{\"index\":{\"_id\":\"1\",\"version\":5,\"version_type\":\"external\"}}\n"

/* Expects the value of property p in the document; null: it is left out. */
static inline void expect_as(const char *type, const char *property, const char *text,
                             const char *expected)
{
    struct bench t;
    struct refusal refusal;
    struct buf line;
    buf_init(&line, 1 << 20);
    open_one(&t, type, property);
    ck_assert_msg(encode(&t, "1", text, &refusal), "%s %s: %s", type, text, refusal.reason);
    buf_printf(&line, ACTION "{\"source_id\":\"1\"%s%s}\n", expected != NULL ? ",\"p\":" : "",
               expected != NULL ? expected : "");
    ck_assert_str_eq(buf_text(&t.batch.bytes), buf_text(&line));
    ck_assert_uint_eq(t.batch.operations[0].len, t.batch.bytes.len);
    buf_release(&line);
    bench_close(&t);
}

static inline void expect(const char *type, const char *property_type, const char *text,
                          const char *expected)
{
    struct buf property;
    buf_init(&property, 256);
    buf_printf(&property, "{\"type\":\"%s\"}", property_type);
    expect_as(type, buf_text(&property), text, expected);
    buf_release(&property);
}

static inline void expect_refused_as(const char *type, const char *property, const char *text,
                                     const char *reason)
{
    struct bench t;
    struct refusal refusal;
    open_one(&t, type, property);
    ck_assert(encode(&t, "0", NULL, &refusal));
    char *before = text_copy(buf_text(&t.batch.bytes));
    ck_assert_msg(!encode(&t, "1", text, &refusal), "%s %s into %s", type, text, property);
    ck_assert_str_eq(refusal.reason, reason);
    ck_assert_str_eq(refusal.column, "p");
    ck_assert(!refusal.no_room);
    ck_assert_str_eq(buf_text(&t.batch.bytes), before);
    ck_assert_str_eq(buf_text(&t.batch.keys), "0");
    ck_assert_uint_eq(t.batch.count, 1);
    free(before);
    bench_close(&t);
}

static inline void expect_refused(const char *type, const char *property_type, const char *text,
                                  const char *reason)
{
    struct buf property;
    buf_init(&property, 256);
    buf_printf(&property, "{\"type\":\"%s\"}", property_type);
    expect_refused_as(type, buf_text(&property), text, reason);
    buf_release(&property);
}
