/* SPDX-License-Identifier: Apache-2.0 */
/* Every combination of outcomes for up to four items, in all forms of answers. */
#include "rowferry/service/bulk/answer.h"

#include "suite.h"

struct fate {
    const char *status;
    const char *error; /* null: none */
    enum outcome outcome;
};

static const struct fate fates[] = {
    {"201", NULL, OUTCOME_DONE},
    {"409",
     "{\"type\":\"version_conflict_engine_exception\",\"reason\":\"[1]: version conflict, current "
     "version [11] is higher or equal to the one provided [10]\"}",
     OUTCOME_CONFLICT},
    {"400", "{\"type\":\"document_parsing_exception\",\"reason\":\"[1:6] failed to parse\"}",
     OUTCOME_REJECTED},
    {"404", "{\"type\":\"index_not_found_exception\",\"reason\":\"no such index [t]\"}",
     OUTCOME_FATAL},
    {"429", "{\"type\":\"es_rejected_execution_exception\",\"reason\":\"rejected\"}",
     OUTCOME_RETRY},
    {"500", "{\"type\":\"null_pointer_exception\",\"reason\":null}", OUTCOME_RETRY},
};

#define FATES (sizeof(fates) / sizeof(fates[0]))
#define ITEMS 4

/* The text around the items, and the white space between the tokens. */
struct form {
    const char *before, *after;
    const char *blank;
    bool status_last;
};

static const struct form forms[] = {
    {"{\"took\":4,\"errors\":true,\"items\":[", "]}", "", true},
    {"{\"errors\":true,\"took\":0,\"items\":[", "]}", "", false},
    {"{\"items\":[", "],\"errors\":true,\"took\":1}", "", true},
    {"{\"items\":[", "]}", "", false},
    {"{\n  \"took\" : 4,\n  \"errors\" : true,\n  \"items\" : [\n", "\n  ]\n}\n", "\n    ", true},
    {"{\"errors\":false,\"items\":[", "]}", " ", true},
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

static void push_item(struct buf *out, const struct fate *fate, const struct form *form)
{
    const char *blank = form->blank;
    buf_printf(out, "{%s\"index\"%s:%s{", blank, blank, blank);
    if (fate->error != NULL && form->status_last) {
        buf_printf(out, "\"error\"%s:%s%s%s,", blank, blank, fate->error, blank);
    }
    buf_printf(out, "%s\"status\"%s:%s%s%s", blank, blank, blank, fate->status, blank);
    if (fate->error != NULL && !form->status_last) {
        buf_printf(out, ",\"error\":%s", fate->error);
    }
    buf_printf(out, "}%s}%s", blank, blank);
}

/* `mix` has one digit to the base of FATES per item, the first item's last. */
static size_t fate_of(size_t mix, size_t item)
{
    for (; item > 0; item--) {
        mix /= FATES;
    }
    return mix % FATES;
}

static void write_mix(struct buf *json, size_t count, size_t mix, const struct form *form)
{
    buf_reset(json);
    buf_push_text(json, form->before);
    for (size_t i = 0; i < count; i++) {
        buf_push_text(json, i > 0 ? "," : "");
        push_item(json, &fates[fate_of(mix, i)], form);
    }
    buf_push_text(json, form->after);
}

/* Few assertions, because each one writes to the test's parent process. */
static void check_mix(struct answer *a, struct batch *b, const struct buf *json, size_t mix)
{
    struct err err;
    for (size_t piece = 1; piece <= json->len; piece += json->len / 3) {
        bool good = true;
        answer_begin(a, b, NULL);
        for (size_t at = 0; at < json->len; at += piece) {
            size_t left = json->len - at;
            good = answer_feed(a, json->data + at, left < piece ? left : piece) && good;
        }
        good = answer_end(a, &err) == 0 && good;
        for (size_t i = 0; i < b->count; i++) {
            good = good && b->operations[i].outcome == fates[fate_of(mix, i)].outcome;
        }
        if (!good) {
            ck_abort_msg("%s in pieces of %zu", buf_text(json), piece);
        }
    }
}

static void make_batch(struct batch *b, size_t count)
{
    batch_init(b, 1 << 20, 1 << 20, ITEMS);
    for (size_t i = 0; i < count; i++) {
        batch_begin(b, OPERATION_UPSERT, span_make("1", 1), 10, 1);
        buf_push_literal(&b->bytes, "{}\n");
        ck_assert(batch_commit(b));
    }
}

START_TEST(every_mix_of_outcomes_over_up_to_four_items_is_exact)
{
    struct answer *a = answer_new();
    struct buf json;
    buf_init(&json, 1 << 16);
    size_t mixes = 1;
    size_t checked = 0;
    for (size_t items = 1; items <= ITEMS; items++) {
        struct batch b;
        make_batch(&b, items);
        mixes *= FATES;
        for (size_t mix = 0; mix < mixes; mix++, checked++) {
            for (size_t form = 0; form < FORMS; form++) {
                write_mix(&json, items, mix, &forms[form]);
                check_mix(a, &b, &json, mix);
            }
        }
        batch_release(&b);
    }
    ck_assert_uint_eq(checked, 6 + 36 + 216 + 1296);
    buf_release(&json);
    answer_free(a);
}
END_TEST

SUITE_MAIN("service/answer_mixes", every_mix_of_outcomes_over_up_to_four_items_is_exact)
