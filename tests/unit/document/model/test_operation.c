/* SPDX-License-Identifier: Apache-2.0 */
/* The names in logs and in the state file. */
#include "rowferry/document/model/operation.h"

#include "suite.h"

START_TEST(kinds_have_the_names_of_the_glossary)
{
    ck_assert_str_eq(operation_kind_name(OPERATION_UPSERT), "upsert");
    ck_assert_str_eq(operation_kind_name(OPERATION_DELETE), "delete");
}
END_TEST

SUITE_MAIN("document/operation", kinds_have_the_names_of_the_glossary)
