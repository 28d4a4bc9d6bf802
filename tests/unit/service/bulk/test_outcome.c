/* SPDX-License-Identifier: Apache-2.0 */
/* Every line of the outcome table, with texts of real servers. */
#include "rowferry/service/bulk/outcome.h"

#include <string.h>

#include "suite.h"

#define OURS 1763719200000000

struct line {
    enum operation_kind kind;
    int status;
    const char *type; /* null: no error */
    const char *reason;
    enum outcome wanted;
};

static struct span text(const char *s)
{
    return span_make(s, s != NULL ? strlen(s) : 0);
}

static enum outcome decide(const struct line *l, unsigned attempts, int64_t *seen)
{
    struct operation o = {.kind = l->kind, .version = OURS, .attempts = attempts};
    struct item item = {
        .status = l->status,
        .has_error = l->type != NULL,
        .type = text(l->type),
        .reason = text(l->reason),
    };
    return outcome_of_item(&o, &item, seen);
}

#define UP OPERATION_UPSERT
#define DEL OPERATION_DELETE

static const struct line lines[] = {
    {UP, 200, NULL, NULL, OUTCOME_DONE},
    {UP, 201, NULL, NULL, OUTCOME_DONE},
    {DEL, 200, NULL, NULL, OUTCOME_DONE},
    {DEL, 404, NULL, NULL, OUTCOME_DONE},
    {UP, 404, NULL, NULL, OUTCOME_FATAL},
    {UP, 404, "index_not_found_exception", "no such index [vanish]", OUTCOME_FATAL},
    {DEL, 404, "index_not_found_exception", "no such index [vanish]", OUTCOME_FATAL},
    {UP, 429, "es_rejected_execution_exception", "rejected execution of coordinating operation",
     OUTCOME_RETRY},
    {UP, 429, "rejected_execution_exception", "rejected execution of org.opensearch.action",
     OUTCOME_RETRY},
    {UP, 429, "circuit_breaking_exception", "[in_flight_requests] Data too large", OUTCOME_RETRY},
    {DEL, 429, "cluster_block_exception",
     "index [i] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index "
     "has read-only-allow-delete block];",
     OUTCOME_RETRY},
    {UP, 403, "cluster_block_exception", "index [ro] blocked by: [FORBIDDEN/8/index write (api)];",
     OUTCOME_RETRY},
    {UP, 403, "security_exception", "no permissions for [indices:data/write/index]", OUTCOME_FATAL},
    {UP, 401, "security_exception", "unable to authenticate", OUTCOME_FATAL},
    {UP, 400, "index_closed_exception", "closed", OUTCOME_FATAL},
    {UP, 400, "invalid_index_name_exception", "Invalid index name [t-1-WRITE], must be lowercase",
     OUTCOME_FATAL},
    {DEL, 400, "invalid_index_name_exception", "Invalid index name [t-1-WRITE], must be lowercase",
     OUTCOME_FATAL},
    {UP, 400, "illegal_argument_exception", "pipeline with id [nope] does not exist",
     OUTCOME_FATAL},
    {UP, 400, "illegal_argument_exception",
     "no write index is defined for alias [pa]. The write index may be explicitly disabled",
     OUTCOME_FATAL},
    {UP, 400, "illegal_argument_exception",
     "only write ops with an op_type of create are allowed in data streams", OUTCOME_FATAL},
    {UP, 400, "illegal_argument_exception",
     "Document contains at least one immense term in field=\"k\"", OUTCOME_REJECTED},
    {UP, 400, "mapper_parsing_exception",
     "failed to parse field [n] of type [long] in document with id '1'. Preview of field's value: "
     "'pipeline with id [x]'",
     OUTCOME_REJECTED},
    {UP, 400, "document_parsing_exception", "[1:6] failed to parse field [n]", OUTCOME_REJECTED},
    {UP, 400, "strict_dynamic_mapping_exception",
     "mapping set to strict, dynamic introduction of [nope] within [_doc] is not allowed",
     OUTCOME_REJECTED},
    {UP, 400, "routing_missing_exception", "routing is required", OUTCOME_REJECTED},
    {UP, 418, "teapot_exception", "short and stout", OUTCOME_REJECTED},
    {UP, 408, "timeout_exception", "", OUTCOME_RETRY},
    {UP, 503, "unavailable_shards_exception", "[un][0] primary shard is not active Timeout: [1s]",
     OUTCOME_RETRY},
    {DEL, 500, "exception", "", OUTCOME_RETRY},
    {UP, 409, "some_other_conflict", "", OUTCOME_RETRY},
    {UP, 200, "strange_exception", "an error beside a 200", OUTCOME_UNKNOWN},
    {UP, 0, NULL, NULL, OUTCOME_UNKNOWN},
    {UP, 301, NULL, NULL, OUTCOME_UNKNOWN},
};

START_TEST(every_line_of_the_table)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        int64_t seen = 0;
        enum outcome got = decide(&lines[i], 1, &seen);
        ck_assert_msg(got == lines[i].wanted, "%d %s: %d", lines[i].status,
                      lines[i].type != NULL ? lines[i].type : "-", (int)got);
        ck_assert_int_eq(seen, 0);
    }
}
END_TEST

static enum outcome conflict_at(unsigned attempts, const char *reason, int64_t *seen)
{
    struct line l = {UP, 409, "version_conflict_engine_exception", reason, OUTCOME_DONE};
    *seen = 0;
    return decide(&l, attempts, seen);
}

static enum outcome conflict(const char *reason, int64_t *seen)
{
    return conflict_at(1, reason, seen);
}

static const char own_version[] =
    "[b1]: version conflict, current version [1763719200000000] is higher "
    "or equal to the one provided [1763719200000000]";

START_TEST(a_conflict_with_our_own_version_is_done_if_it_was_sent_before)
{
    int64_t seen;
    ck_assert_int_eq(conflict_at(2, own_version, &seen), OUTCOME_DONE);
    ck_assert_int_eq(seen, 0);
}
END_TEST

START_TEST(our_version_on_a_document_that_we_did_not_send_is_a_conflict)
{
    int64_t seen;
    ck_assert_int_eq(conflict_at(1, own_version, &seen), OUTCOME_CONFLICT);
    ck_assert_int_eq(seen, OURS);
}
END_TEST

START_TEST(a_conflict_with_a_higher_version_names_the_version)
{
    int64_t seen;
    ck_assert_int_eq(
        conflict("[b1]: version conflict, current version [1763719200000001] is higher "
                 "or equal to the one provided [1763719200000000]",
                 &seen),
        OUTCOME_CONFLICT);
    ck_assert_int_eq(seen, OURS + 1);
    ck_assert_int_eq(conflict("current version [9223372036854775807] is higher", &seen),
                     OUTCOME_CONFLICT);
    ck_assert_int_eq(seen, INT64_MAX);
}
END_TEST

START_TEST(a_version_quoted_in_the_key_is_ignored)
{
    int64_t seen;
    ck_assert_int_eq(
        conflict("[current version [1763719200000000]]: version conflict, current version "
                 "[1763719200000009] is higher or equal to the one provided [1763719200000000]",
                 &seen),
        OUTCOME_CONFLICT);
    ck_assert_int_eq(seen, OURS + 9);
}
END_TEST

START_TEST(a_conflict_with_a_lower_version_is_tried_again)
{
    int64_t seen;
    ck_assert_int_eq(conflict("version conflict, current version [5] is higher", &seen),
                     OUTCOME_RETRY);
    ck_assert_int_eq(seen, 0);
}
END_TEST

START_TEST(a_conflict_without_a_version_is_read_again)
{
    static const char *const texts[] = {
        "",
        "version conflict",
        "current version [",
        "current version []",
        "current version [12",
        "current version [x]",
        "current version [99999999999999999999]",
        "current version [9223372036854775808]",
        "current version [7] and current version [",
        "current version [7] and current version [8",
        "current version [7] and current version [8)",
        "version conflict, required seqNo [1]",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t seen;
        ck_assert_msg(conflict(texts[i], &seen) == OUTCOME_CONFLICT, "%s", texts[i]);
        ck_assert_int_eq(seen, OURS);
    }
}
END_TEST

START_TEST(a_diverted_document_is_rejected)
{
    struct operation o = {.kind = OPERATION_UPSERT, .version = OURS};
    struct item item = {.status = 201, .diverted = true};
    int64_t seen = 0;
    ck_assert_int_eq(outcome_of_item(&o, &item, &seen), OUTCOME_REJECTED);
    item.status = 429;
    item.has_error = true;
    ck_assert_int_eq(outcome_of_item(&o, &item, &seen), OUTCOME_RETRY);
}
END_TEST

START_TEST(a_reason_names_a_missing_or_shared_alias)
{
    ck_assert(outcome_is_gone(text("invalid_index_name_exception: no such")));
    ck_assert(outcome_is_gone(text("index_not_found_exception: no such")));
    ck_assert(!outcome_is_gone(text("an index_not_found_exception")));
    ck_assert(!outcome_is_gone(text("index")));
    ck_assert(!outcome_is_gone(text(NULL)));
    ck_assert(outcome_is_shared(text("no write index is defined for alias [a]")));
    ck_assert(!outcome_is_shared(text("no write index")));
}
END_TEST

START_TEST(a_refused_request_has_one_outcome_for_all)
{
    static const struct {
        int status;
        const char *type;
        enum outcome wanted;
    } requests[] = {
        {429, "", OUTCOME_RETRY},
        {500, "", OUTCOME_RETRY},
        {502, "", OUTCOME_RETRY},
        {503, "", OUTCOME_RETRY},
        {504, "", OUTCOME_RETRY},
        {408, "", OUTCOME_RETRY},
        {400, "", OUTCOME_REJECTED},
        {413, "", OUTCOME_REJECTED},
        {401, "", OUTCOME_FATAL},
        {403, "", OUTCOME_FATAL},
        {404, "", OUTCOME_FATAL},
        {301, "", OUTCOME_FATAL},
        {406, "", OUTCOME_FATAL},
        {204, "", OUTCOME_UNKNOWN},
        {0, "", OUTCOME_UNKNOWN},
        {403, "cluster_block_exception", OUTCOME_RETRY},
        {403, "security_exception", OUTCOME_FATAL},
        {401, "cluster_block_exception", OUTCOME_FATAL},
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        int status = requests[i].status;
        ck_assert_msg(outcome_of_request(status, requests[i].type) == requests[i].wanted, "%d %s",
                      status, requests[i].type);
    }
}
END_TEST

/* The texts of both products. */
START_TEST(a_create_is_done_if_the_document_exists)
{
    struct operation o = {.kind = OPERATION_UPSERT, .attempts = 1, .version = OPERATION_CREATES};
    static const char type[] = "version_conflict_engine_exception";
    static const char reason[] = "[3]: version conflict, document already exists (current version "
                                 "[1])";
    struct item item = {.status = 409,
                        .has_error = true,
                        .type = span_make(type, sizeof(type) - 1),
                        .reason = span_make(reason, sizeof(reason) - 1)};
    int64_t seen = 0;
    ck_assert_int_eq(outcome_of_item(&o, &item, &seen), OUTCOME_DONE);
    o.version = 1; /* the same texts for a document with versions */
    ck_assert_int_eq(outcome_of_item(&o, &item, &seen), OUTCOME_CONFLICT);
}
END_TEST

SUITE_MAIN("service/outcome", every_line_of_the_table, a_create_is_done_if_the_document_exists,
           a_conflict_with_our_own_version_is_done_if_it_was_sent_before,
           our_version_on_a_document_that_we_did_not_send_is_a_conflict,
           a_conflict_with_a_higher_version_names_the_version,
           a_version_quoted_in_the_key_is_ignored, a_conflict_with_a_lower_version_is_tried_again,
           a_conflict_without_a_version_is_read_again, a_diverted_document_is_rejected,
           a_reason_names_a_missing_or_shared_alias, a_refused_request_has_one_outcome_for_all)
