/* SPDX-License-Identifier: Apache-2.0 */
/* Tests rowferry's assumptions on one search service (subject.h). */
#include <stdio.h>

#include "rowferry/base/buf.h"
#include "subject.h"

#define TESTS_MAX 128

static const struct {
    const char *name; /* as src/service/http/services.tested has it */
    struct tests (*tests)(void);
} files[] = {
    {"identity", identity_tests},
    {"passwords", password_tests},
    {"privileges", privilege_tests},
    {"generations", generation_tests},
    {"rebuilds", rebuild_tests},
    {"bulk outcomes", bulk_tests},
    {"versions", version_tests},
    {"tombstones", forgetting_tests},
    {"refusals", refusal_tests},
    {"request size", limit_tests},
    {"blocks", block_tests},
    {"sync", sync_tests},
    {"large documents", large_sync_tests},
    {"node restarts", restart_tests},
    {"vectors", vector_tests},
    {"verify", verify_tests},
    {"restored snapshots", restore_tests},
    {"reindex", reindex_tests},
    {"smoke", smoke_tests},
    {"rights of smoke", smoke_privilege_tests},
    {"late requests", late_tests},
    {"routing", routing_tests},
    {"changed credentials", rotation_tests},
    {"validate", validate_tests},
    {"rights of validate", validate_privilege_tests},
    {"init", init_tests},
    {"accounts", account_tests},
    {"data streams", stream_tests},
    {"ingest pipelines", ingest_tests},
    {"the specification", specification_tests},
};

int main(void)
{
    const TTest *all[TESTS_MAX];
    size_t count = 0;
    struct buf tested;
    buf_init(&tested, 4096);
    if (subject_is_stand_in()) {
        setenv("ROWFERRY_TEST_MAX_BYTES", SUBJECT_STAND_IN_MAX_BYTES, 1);
        setenv("ROWFERRY_TEST_USER", "admin", 1);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct tests list = files[i].tests();
        bool possible = list.needs == NULL || getenv(list.needs) != NULL;
        if (possible) {
            buf_printf(&tested, "%s%s", tested.len > 0 ? ", " : "", files[i].name);
        }
        for (size_t k = 0; possible && list.tests[k] != NULL && count < TESTS_MAX; k++) {
            all[count++] = list.tests[k];
        }
    }
    int failed = suite_run("conformance", all, count);
    if (failed == 0) {
        printf("tested: %s\n", buf_text(&tested));
    }
    buf_release(&tested);
    return failed;
}
