/* SPDX-License-Identifier: Apache-2.0 */
/* The names that logs and the state file hold. */
#include "rowferry/document/operation.h"

#include "suite.h"

START_TEST(kinds_and_outcomes_have_the_names_of_the_glossary)
{
    ck_assert_str_eq(operation_kind_name(OPERATION_UPSERT), "upsert");
    ck_assert_str_eq(operation_kind_name(OPERATION_DELETE), "delete");
    ck_assert_str_eq(outcome_name(OUTCOME_UNKNOWN), "unknown");
    ck_assert_str_eq(outcome_name(OUTCOME_DONE), "done");
    ck_assert_str_eq(outcome_name(OUTCOME_RETRY), "retry");
    ck_assert_str_eq(outcome_name(OUTCOME_OUTRUN), "outrun");
    ck_assert_str_eq(outcome_name(OUTCOME_REJECTED), "rejected");
    ck_assert_str_eq(outcome_name(OUTCOME_STOP), "stop");
}
END_TEST

SUITE_MAIN("document/operation", kinds_and_outcomes_have_the_names_of_the_glossary)
