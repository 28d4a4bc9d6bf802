/* SPDX-License-Identifier: Apache-2.0 */
/* Index blocks: what a refusal means, and the hint that opens the index. */
#include "rowferry/service/http/index_block.h"

#include <string.h>

#include "suite.h"

static const struct {
    const char *reason;
    const char *hint; /* part of it; null: none */
} cases[] = {
    {"closed", "POST /things/_open"},
    {"clotted", NULL},
    {"closes", NULL},
    {"index_closed_exception: closed", "POST /things/_open"},
    {"", NULL},
    {"index [i] blocked by: [FORBIDDEN/8/index write (api)];",
     "\"index.blocks.write\" is set: PUT /things/_settings"},
    {"blocked by: [FORBIDDEN/6/cluster read-only (api)];",
     "\"cluster.blocks.read_only\" is set: PUT /_cluster/settings"},
    {"it says /8/index write and means none", NULL},
    {"blocked by: [FORBIDDEN/99/something new];", NULL},
};

START_TEST(a_refusal_names_the_block_or_the_closed_index)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {.class = ERR_REJECTED};
        struct span reason = span_make(cases[i].reason, strlen(cases[i].reason));
        ck_assert(index_block_hint(reason, "things", &err) == (cases[i].hint != NULL));
        ck_assert_msg(strstr(err.hint, cases[i].hint != NULL ? cases[i].hint : "") != NULL, "%s",
                      err.hint);
        ck_assert(cases[i].hint != NULL || err.hint[0] == '\0');
    }
}
END_TEST

END_TEST

SUITE_MAIN("service/index_block", a_refusal_names_the_block_or_the_closed_index)
