/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search service under test, and requests of the tests to it.
 *
 * The environment selects it: ROWFERRY_TEST_SERVICE is its URL, with ROWFERRY_TEST_USER, _PASSWORD
 * and _CA if needed. If it is not set, the test starts a devsearch that imitates
 * ROWFERRY_TEST_STAND_IN. Only indices named rf-test-* are created, and deleted again. The script
 * `run`, beside this file, also sets ROWFERRY_TEST_PRODUCT ("OpenSearch 2.19.4"), _MAX_BYTES
 * (http.max_content_length), _USERS (admin, writer, reader, nobody: the password is the name),
 * _RESTART (the folder of the node, for restart_node) and _REPOSITORY (a folder for snapshots).
 * Tests whose variable is not set are skipped. Every failure here fails the test.
 */
#pragma once

#include <stdbool.h>

#include "http.h"
#include "rowferry/service/bulk/bulk.h"
#include "rowferry/service/bulk/outcome.h"
#include "rowferry/service/http/product.h"
#include "rowferry/service/index/index.h"
#include "server.h"
#include "suite.h"

#define MAPPING                                                                                    \
    "{\"dynamic\":\"strict\",\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\",\"mapping\":"      \
    "\"0011223344556677\"}},\"properties\":{\"source_id\":{\"type\":\"keyword\"},\"title\":{"      \
    "\"type\":\"text\"},\"n\":{\"type\":\"long\"}}}"

#define SUBJECT_STAND_IN_MAX_BYTES "4194304"

/* Returns true if the subject is a devsearch started by the test. */
bool subject_is_stand_in(void);

struct subject {
    struct devsearch stand_in;
    const char *url;
    struct service_options options;
    char *authorization; /* for the tests' own requests; may be null */
    struct service *service;
    struct product_info product;
    char alias[64];
    char first[96]; /* names of two generations of pipeline "articles" */
    char second[96];
    char other[96]; /* name for an index without an owner */
    struct err err;
};

void subject_enter(struct subject *s);
void subject_leave(struct subject *s);

/* Expects that a function of the service library succeeds. */
#define OK(call) ck_assert_msg((call) == 0, "%s: %s %s", #call, s->err.message, s->err.detail)

/* Restarts the node (needs ROWFERRY_TEST_RESTART). */
void restart_node(void);

/* Opens the service as another user (the password is the name); close it with http_service_close.
 */
struct service *subject_as(struct subject *s, const char *user, const char *password);

/* Sends a request of the test itself to "/<index><rest>". Expects the status, and the text in the
 * body (null: any). */
void say(struct subject *s, int status, const char *text, const char *method, const char *index,
         const char *rest, const char *body);

/* Like say; returns the body, which the caller frees. */
char *told(struct subject *s, int status, const char *method, const char *index, const char *rest,
           const char *body);

void open_batch(struct batch *b);
void add(struct batch *b, enum operation_kind kind, const char *id, long long version,
         const char *document);
void send_by(struct subject *s, struct service *service, const char *index, struct batch *b);
void send_whole(struct subject *s, const char *index, struct batch *b);

/* Waits for the next finished batch. */
struct batch *take_back(struct subject *s, struct service *service);

/* Expects the outcome of operation i, its status (0: any) and the beginning of its reason (null:
 * any). */
void expect_outcome(const struct batch *b, size_t i, enum outcome wanted, int status,
                    const char *reason);

/* Sends a batch of one operation and expects its outcome, status and reason. */
void expect_one(struct subject *s, const char *index, enum operation_kind kind, const char *id,
                long long version, enum outcome wanted, int status, const char *reason);

/* A list of tests; each file of this folder ends with its own. */
struct tests {
    const char *needs; /* required variable, or null */
    const TTest *tests[16];
};

#define TESTS(name, needed, ...)                                                                   \
    struct tests name(void)                                                                        \
    {                                                                                              \
        return (struct tests){.needs = (needed), .tests = {__VA_ARGS__}};                          \
    }

struct tests identity_tests(void);
struct tests password_tests(void);
struct tests privilege_tests(void);
struct tests generation_tests(void);
struct tests rebuild_tests(void);
struct tests bulk_tests(void);
struct tests version_tests(void);
struct tests forgetting_tests(void);
struct tests refusal_tests(void);
struct tests limit_tests(void);
struct tests block_tests(void);
struct tests sync_tests(void);
struct tests ingest_tests(void);
struct tests large_sync_tests(void);
struct tests restart_tests(void);
struct tests vector_tests(void);
struct tests verify_tests(void);
struct tests restore_tests(void);
struct tests reindex_tests(void);
struct tests smoke_tests(void);
struct tests smoke_privilege_tests(void);
struct tests late_tests(void);
struct tests routing_tests(void);
struct tests stream_tests(void);
struct tests rotation_tests(void);
struct tests account_tests(void);
struct tests validate_tests(void);
struct tests validate_privilege_tests(void);
struct tests init_tests(void);
struct tests specification_tests(void);
