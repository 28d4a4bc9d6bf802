/* SPDX-License-Identifier: Apache-2.0 */
/* Polling an alias without blocking. */
#include "rowferry/service/index/index.h"

#include "fixture.h"
#include "rowferry/base/clock.h"
#include "rowferry/service/bulk/bulk.h"
#include "suite.h"
#include "wait.h"

#define OURS                                                                                       \
    "{\"shop-1\":{\"aliases\":{\"shop\":{}},\"mappings\":{},"                                      \
    "\"settings\":{\"index\":{\"uuid\":\"u1\"}}}}"
#define MISSING "{\"error\":{\"type\":\"index_not_found_exception\"},\"status\":404}"

/* Waits for the answer. */
static int ended(struct fixture *f, enum alias_kind *kind, struct index_info *info)
{
    int rc = ALIAS_POLL_NONE;
    struct deadline deadline = deadline_after(WAIT_MS);
    while (rc == ALIAS_POLL_NONE) {
        bool readable;
        ck_assert_int_eq(bulk_wait(f->service, -1, 100, &readable, &f->err), 0);
        rc = alias_poll_end(f->service, kind, info, &f->err);
        ck_assert(rc != ALIAS_POLL_NONE || deadline_wait(&deadline));
    }
    return rc;
}

static void poll_alias(int status, const char *body, int rc, enum alias_kind kind, const char *name)
{
    char text[ANSWER_BYTES];
    answer_of(text, status, body);
    const char *const answers[] = {text, NULL};
    struct fixture f = {0};
    enum alias_kind seen;
    struct index_info info;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(alias_poll_end(f.service, &seen, &info, &f.err), ALIAS_POLL_NONE);
    ck_assert_int_eq(alias_poll_begin(f.service, "shop", &f.err), 0);
    ck_assert_int_eq(alias_poll_begin(f.service, "shop", &f.err), 0); /* the poll continues */
    ck_assert_int_eq(ended(&f, &seen, &info), rc);
    if (rc == 0) {
        ck_assert_int_eq(seen, kind);
        ck_assert_str_eq(info.name, name);
    }
    ck_assert_int_eq(alias_poll_end(f.service, &seen, &info, &f.err), ALIAS_POLL_NONE);
    stop(&f);
}

START_TEST(a_poll_resolves_like_a_blocking_request)
{
    poll_alias(200, OURS, 0, ALIAS_ONE, "shop-1");
    poll_alias(404, MISSING, 0, ALIAS_ABSENT, "");
    poll_alias(404, "<html>", ERR_REJECTED, ALIAS_ABSENT, "");
    poll_alias(403, "{\"error\":{\"type\":\"security_exception\"}}", ERR_REJECTED, ALIAS_ABSENT,
               "");
    poll_alias(503, "{}", ERR_TRANSIENT, ALIAS_ABSENT, "");
}
END_TEST

/* Other requests are answered in the meantime, and the poll may be abandoned. */
START_TEST(a_missing_answer_does_not_delay_other_requests)
{
    struct fixture f = {0};
    enum alias_kind kind;
    struct index_info info;
    bool readable;
    const char *const answers[] = {"", NULL};
    f.server = scripted_start(answers, SIZE_MAX, true);
    point(&f, 0, f.server->port);
    connect_to(&f, 1);
    ck_assert_int_eq(alias_poll_begin(f.service, "shop", &f.err), 0);
    for (int turn = 0; turn < 5; turn++) {
        ck_assert_int_eq(bulk_wait(f.service, -1, 10, &readable, &f.err), 0);
        ck_assert_int_eq(alias_poll_end(f.service, &kind, &info, &f.err), ALIAS_POLL_NONE);
    }
    stop(&f);
}
END_TEST

SUITE_MAIN("service/alias_poll", a_poll_resolves_like_a_blocking_request,
           a_missing_answer_does_not_delay_other_requests)
