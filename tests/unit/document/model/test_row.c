/* SPDX-License-Identifier: Apache-2.0 */
/* Columns are found by their exact name. */
#include "rowferry/document/model/row.h"

#include "rowferry/base/text.h"
#include "suite.h"

START_TEST(a_column_is_found_by_its_exact_name)
{
    struct columns c = {mem_zero(2, sizeof(struct column)), 2};
    c.items[0] = (struct column){.name = text_copy("id"), .type = text_copy("int8")};
    c.items[1] = (struct column){.name = text_copy("Title"),
                                 .type = text_copy("_text"),
                                 .declared = text_copy("text[]"),
                                 .parts = mem_zero(1, sizeof(struct column)),
                                 .part_count = 1};
    c.items[1].parts[0] = (struct column){.type = text_copy("text")};
    ck_assert_ptr_eq(row_columns_find(&c, "id"), &c.items[0]);
    ck_assert_ptr_eq(row_columns_find(&c, "Title"), &c.items[1]);
    ck_assert_ptr_null(row_columns_find(&c, "title"));
    ck_assert_ptr_null(row_columns_find(&c, "i"));
    row_columns_release(&c);
    ck_assert_uint_eq(c.count, 0);
    ck_assert_ptr_null(row_columns_find(&c, "id"));
}
END_TEST

SUITE_MAIN("document/row", a_column_is_found_by_its_exact_name)
