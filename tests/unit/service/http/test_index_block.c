/* SPDX-License-Identifier: Apache-2.0 */
/* Index blocks: what a refusal means, and the hint that opens the index. */
#include "rowferry/service/http/index_block.h"

#include <string.h>

#include "suite.h"

static struct span text(const char *s)
{
    return span_make(s, strlen(s));
}

START_TEST(a_refusal_names_the_block_or_the_closed_index)
{
    struct err err = {.class = ERR_REJECTED};
    ck_assert(index_block_closed(text("closed")));
    ck_assert(!index_block_closed(text("clotted")));
    ck_assert(!index_block_closed(text("closes")));
    ck_assert(index_block_closed(text("index_closed_exception: closed")));
    ck_assert(!index_block_closed(text("")));
    ck_assert_str_eq(
        index_block_setting(text("index [i] blocked by: [FORBIDDEN/8/index write (api)];")),
        "index.blocks.write");
    ck_assert_str_eq(
        index_block_setting(text("blocked by: [FORBIDDEN/6/cluster read-only (api)];")),
        "cluster.blocks.read_only");
    ck_assert_ptr_null(index_block_setting(text("it says /8/index write and means none")));
    ck_assert_ptr_null(index_block_setting(text("blocked by: [FORBIDDEN/99/something new];")));
    index_block_hint("index.blocks.write", "things", &err);
    ck_assert_ptr_nonnull(strstr(err.hint, "PUT /things/_settings"));
    index_block_hint("cluster.blocks.read_only", "things", &err);
    ck_assert_ptr_nonnull(strstr(err.hint, "PUT /_cluster/settings"));
    index_block_closed_hint("things", &err);
    ck_assert_ptr_nonnull(strstr(err.hint, "POST /things/_open"));
}
END_TEST

END_TEST

SUITE_MAIN("service/index_block", a_refusal_names_the_block_or_the_closed_index)
