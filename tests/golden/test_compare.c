/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the comparison with the document of every golden pair: equivalent documents have no
 * difference, and a document with one changed field has one.
 *
 *     golden_compare FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "rowferry/document/compare/compare.h"
#include "rowferry/document/json/json_compare.h"

struct tried {
    int documents;
    int wrong;
};

/* Writes the value with its first leaf changed. */
static void push_altered(struct buf *out, struct span value)
{
    struct span first;
    struct span name = span_make(NULL, 0);
    bool object = value.data[0] == '{';
    if (object || value.data[0] == '[') {
        struct json_steps at = json_steps_into(value);
        if (object ? json_steps_member(&at, &name, &first) : json_steps_element(&at, &first)) {
            buf_push(out, value.data, (size_t)(first.data - value.data));
            push_altered(out, first);
            const char *behind = first.data + first.len;
            buf_push(out, behind, (size_t)(value.data + value.len - behind));
        } else {
            buf_push_text(out, object ? "{\"x\":1}" : "[1]");
        }
    } else if (value.data[0] == '"') {
        buf_push(out, value.data, value.len - 1);
        buf_push_literal(out, "x\"");
    } else if (strchr("tfn", value.data[0]) != NULL) {
        buf_push_text(out, value.data[0] == 't' ? "false" : "true");
    } else {
        buf_push(out, value.data, value.len);
        buf_push_char(out, '1');
    }
}

static void expect(struct tried *t, const struct pair *pair, struct span row, const struct buf *b,
                   size_t wanted)
{
    struct compare_rules rules = {0};
    size_t got = compare_documents(&rules, row, span_make(buf_text(b), b->len), NULL, NULL);
    if (got != wanted) {
        t->wrong++;
        fprintf(stderr, "%s:%d: %zu differences instead of %zu: %.*s and %s\n", pair->file,
                pair->line, got, wanted, (int)row.len, row.data, buf_text(b));
    }
}

static void try_document(struct tried *t, const struct pair *pair, struct span row)
{
    struct span name;
    struct span id;
    struct span value;
    struct buf other;
    struct json_steps at = json_steps_into(row);
    if (!json_steps_member(&at, &name, &id) || !json_steps_member(&at, &name, &value)) {
        return; /* the value is absent */
    }
    t->documents++;
    buf_init(&other, 1 << 21);
    buf_printf(&other, " { \"p\" : %.*s ,\n\"source_id\":%.*s }", (int)value.len, value.data,
               (int)id.len, id.data);
    expect(t, pair, row, &other, 0);
    buf_reset(&other);
    buf_printf(&other, "{\"source_id\":%.*s}", (int)id.len, id.data);
    expect(t, pair, row, &other, 1);
    buf_reset(&other);
    buf_printf(&other, "{\"source_id\":%.*s,\"p\":", (int)id.len, id.data);
    push_altered(&other, value);
    buf_push_char(&other, '}');
    expect(t, pair, row, &other, 1);
    buf_release(&other);
}

static void try_pair(void *context, struct pg *pg, const struct pair *pair)
{
    struct golden_plan plan;
    struct refusal refusal;
    struct buf properties;
    struct batch batch;
    buf_init(&properties, 65536);
    batch_init(&batch, 1 << 20, 1 << 20, 10);
    buf_printf(&properties, "{\"p\":%s}", pair->property);
    golden_plan(&plan, pg, "golden", buf_text(&properties));
    if (plan.fits && golden_encode(&batch, &plan, pg, &refusal)) {
        const char *document = strchr(buf_text(&batch.bytes), '\n') + 1;
        try_document(context, pair, span_make(document, strcspn(document, "\n")));
    }
    batch_release(&batch);
    golden_plan_release(&plan);
    buf_release(&properties);
}

int main(int argc, char **argv)
{
    struct tried t = {0};
    struct buf skipped;
    struct pg *pg = golden_open();
    buf_init(&skipped, 65536);
    for (int i = 1; i < argc; i++) {
        golden_file(pg, argv[i], try_pair, &t, &skipped);
    }
    pg_close(pg);
    buf_release(&skipped);
    printf("%d documents, %d wrong\n", t.documents, t.wrong);
    return t.wrong == 0 && t.documents > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
