/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rowferry's assumptions on one search service (subject.h). */
#include <stdio.h>

#include "subject.h"

#define TESTS_MAX 128

static struct tests (*const files[])(void) = {
    identity_tests, password_tests, privilege_tests,  generation_tests, rebuild_tests,
    bulk_tests,     version_tests,  forgetting_tests, refusal_tests,    limit_tests,
    block_tests,    sync_tests,     large_sync_tests, restart_tests,    vector_tests,
    verify_tests,   restore_tests,  reindex_tests,    smoke_tests,      smoke_privilege_tests,
    late_tests,     routing_tests,  rotation_tests,   validate_tests,   validate_privilege_tests,
    init_tests,     account_tests,  stream_tests,     ingest_tests,
};

int main(void)
{
    const TTest *all[TESTS_MAX];
    size_t count = 0;
    if (subject_is_stand_in()) {
        setenv("ROWFERRY_TEST_MAX_BYTES", SUBJECT_STAND_IN_MAX_BYTES, 1);
        setenv("ROWFERRY_TEST_USER", "admin", 1);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct tests list = files[i]();
        bool possible = list.needs == NULL || getenv(list.needs) != NULL;
        for (size_t k = 0; possible && list.tests[k] != NULL && count < TESTS_MAX; k++) {
            all[count++] = list.tests[k];
        }
    }
    return suite_run("conformance", all, count);
}
