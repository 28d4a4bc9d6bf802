/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden pairs: compares SQL values, read from a real PostgreSQL and encoded, with JSON that was
 * written by hand.
 *
 *     golden_pairs FILE       exits with 77 if the server lacks what a part of the file needs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

/* Appends the result for the value: the JSON, "absent" or "refused: ...". */
static void push_encoded(struct buf *out, const struct golden_plan *p, struct pg *pg)
{
    static const char start[] = ",\"p\":";
    struct refusal refusal;
    struct batch batch;
    batch_init(&batch, 1 << 20, 1 << 20, 10);
    if (!golden_encode(&batch, p, pg, &refusal)) {
        buf_printf(out, "refused: %s", refusal.reason);
    } else {
        const char *document = strchr(buf_text(&batch.bytes), '\n') + 1;
        const char *json = strstr(document, start);
        if (json == NULL) {
            buf_push_literal(out, "absent");
        } else {
            json += sizeof(start) - 1;
            buf_push(out, json, strlen(json) - 2);
        }
    }
    batch_release(&batch);
}

static void check_pair(void *context, struct pg *pg, const struct pair *pair)
{
    int *wrong = context;
    struct golden_plan plan;
    struct buf properties;
    struct buf got;
    buf_init(&properties, 65536);
    buf_init(&got, 1 << 20);
    buf_printf(&properties, "{\"p\":%s}", pair->property);
    golden_plan(&plan, pg, "golden", buf_text(&properties));
    if (plan.fits) {
        push_encoded(&got, &plan, pg);
    } else {
        buf_push_literal(&got, "misfit");
    }
    if (strcmp(buf_text(&got), pair->expected) != 0) {
        fprintf(stderr, "%s:%d: %s into %s\n  expected %s\n  got      %s\n", pair->file, pair->line,
                pair->expression, pair->property, pair->expected, buf_text(&got));
        ++*wrong;
    }
    golden_plan_release(&plan);
    buf_release(&properties);
    buf_release(&got);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("golden_pairs FILE\n", stderr);
        return EXIT_FAILURE;
    }
    struct pg *pg = golden_open();
    struct buf skipped;
    int wrong = 0;
    buf_init(&skipped, 4096);
    int pairs = golden_file(pg, argv[1], check_pair, &wrong, &skipped);
    pg_close(pg);
    printf("%d pairs, %d wrong\n", pairs, wrong);
    bool partly = skipped.len > 0;
    if (partly) {
        printf("skip: %s\n", buf_text(&skipped));
    }
    buf_release(&skipped);
    if (wrong > 0 || (pairs == 0 && !partly)) {
        return EXIT_FAILURE;
    }
    return partly ? GOLDEN_SKIPPED : EXIT_SUCCESS;
}
