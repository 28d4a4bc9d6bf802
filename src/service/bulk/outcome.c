/* SPDX-License-Identifier: Apache-2.0 */
/* Table from kind, status and error to outcome. The first matching row decides. */
#include "rowferry/service/bulk/outcome.h"
#include "rowferry/base/ascii.h"

#include <string.h>

#define BLOCK                                                                                      \
    "cluster_block_exception" /* by an operator or a lifecycle policy, who lift it again */
#define NO_WRITE_INDEX "no write index is defined for alias"

enum error_wanted { ERROR_ANY, ERROR_ABSENT, ERROR_PRESENT };

enum kind_wanted { KIND_ANY, KIND_DELETE };

struct rule {
    enum kind_wanted kind;
    int least, most; /* range of the status */
    enum error_wanted error;
    const char *type;   /* substring of the type; null = any */
    const char *reason; /* prefix of the reason; null = any */
    enum outcome outcome;
};

static const struct rule item_rules[] = {
    {KIND_ANY, 200, 299, ERROR_ABSENT, NULL, NULL, OUTCOME_DONE},
    {KIND_ANY, 200, 299, ERROR_PRESENT, NULL, NULL, OUTCOME_UNKNOWN},
    {KIND_DELETE, 404, 404, ERROR_ABSENT, NULL, NULL, OUTCOME_DONE},
    {KIND_ANY, 404, 404, ERROR_ANY, NULL, NULL, OUTCOME_FATAL}, /* the index or alias is missing */
    {KIND_ANY, 409, 409, ERROR_ANY, "version_conflict", NULL, OUTCOME_CONFLICT},
    {KIND_ANY, 409, 409, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    /* the service is busy, its disk is full, or a shard is unavailable */
    {KIND_ANY, 408, 408, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 425, 425, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 429, 429, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 500, 599, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 403, 403, ERROR_ANY, BLOCK, NULL, OUTCOME_RETRY},
    /* a credential */
    {KIND_ANY, 401, 401, ERROR_ANY, NULL, NULL, OUTCOME_FATAL},
    {KIND_ANY, 403, 403, ERROR_ANY, NULL, NULL, OUTCOME_FATAL},
    /* refused because of the index (closed, missing, an alias), not because of the document */
    {KIND_ANY, 400, 400, ERROR_ANY, "index_closed_exception", NULL, OUTCOME_FATAL},
    {KIND_ANY, 400, 400, ERROR_ANY, "invalid_index_name_exception", NULL, OUTCOME_FATAL},
    {KIND_ANY, 400, 400, ERROR_ANY, "illegal_argument_exception", "pipeline with id [",
     OUTCOME_FATAL},
    {KIND_ANY, 400, 400, ERROR_ANY, "illegal_argument_exception", NO_WRITE_INDEX, OUTCOME_FATAL},
    {KIND_ANY, 400, 400, ERROR_ANY, "illegal_argument_exception",
     "only write ops with an op_type of create", OUTCOME_FATAL},
    /* mapping errors of any kind, including strict_dynamic_mapping_exception: this document only */
    {KIND_ANY, 400, 499, ERROR_ANY, NULL, NULL, OUTCOME_REJECTED},
};

/* For requests, REJECTED means "not in this form": the caller sends several operations in parts. */
static const struct rule request_rules[] = {
    {KIND_ANY, 200, 299, ERROR_ANY, NULL, NULL, OUTCOME_UNKNOWN},
    {KIND_ANY, 400, 400, ERROR_ANY, NULL, NULL, OUTCOME_REJECTED},
    {KIND_ANY, 413, 413, ERROR_ANY, NULL, NULL, OUTCOME_REJECTED},
    {KIND_ANY, 408, 408, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 425, 425, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 429, 429, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 500, 599, ERROR_ANY, NULL, NULL, OUTCOME_RETRY},
    {KIND_ANY, 403, 403, ERROR_ANY, BLOCK, NULL, OUTCOME_RETRY},
    {KIND_ANY, 300, 499, ERROR_ANY, NULL, NULL, OUTCOME_FATAL},
};

static bool outcome_begins(struct span text, const char *part)
{
    size_t len = part != NULL ? strlen(part) : 0;
    return len == 0 || (text.len >= len && memcmp(text.data, part, len) == 0);
}

/* The service tried to create the missing index, but no index can have that name. */
bool outcome_is_gone(struct span reason)
{
    return outcome_begins(reason, "invalid_index_name_exception") ||
           outcome_begins(reason, "index_not_found_exception");
}

bool outcome_is_shared(struct span reason)
{
    return span_contains(reason, NO_WRITE_INDEX);
}

static bool outcome_rule_fits(const struct rule *r, enum operation_kind kind,
                              const struct item *item)
{
    if (r->kind == KIND_DELETE && kind != OPERATION_DELETE) {
        return false;
    }
    if (r->error != ERROR_ANY && (r->error == ERROR_PRESENT) != item->has_error) {
        return false;
    }
    return item->status >= r->least && item->status <= r->most &&
           (r->type == NULL || span_contains(item->type, r->type)) &&
           outcome_begins(item->reason, r->reason);
}

static enum outcome outcome_first_fit(const struct rule *rules, size_t count,
                                      enum operation_kind kind, const struct item *item)
{
    for (size_t i = 0; i < count; i++) {
        if (outcome_rule_fits(&rules[i], kind, item)) {
            return rules[i].outcome;
        }
    }
    return OUTCOME_UNKNOWN;
}

/* Returns the text after the next "current version [", or null. */
static const char *outcome_next_version(const char *from, const char *end)
{
    static const char words[] = "current version [";
    const char *at = from != end ? memmem(from, (size_t)(end - from), words, strlen(words)) : NULL;
    return at != NULL ? at + strlen(words) : NULL;
}

/* Returns N of the last "current version [N]". The last one counts, because the key precedes it and
 * may contain the same text. */
static int64_t outcome_current_version(struct span reason)
{
    const char *p = NULL;
    const char *end = reason.data + reason.len;
    for (const char *at = outcome_next_version(reason.data, end); at != NULL;
         at = outcome_next_version(at, end)) {
        p = at;
    }
    int64_t version = p != NULL && p < end && *p != ']' ? 0 : -1;
    for (; version >= 0 && p < end && ascii_is_digit(*p); p++) {
        if (__builtin_mul_overflow(version, 10, &version) ||
            __builtin_add_overflow(version, *p - '0', &version)) {
            return -1;
        }
    }
    return version >= 0 && p < end && *p == ']' ? version : -1;
}

/*
 * Classifies a version conflict by the version in the index. Our own version on a later attempt: an
 * earlier request of ours succeeded. Our own version on the first attempt: another run used the
 * same version for another row, because its state file was replaced by an older copy. A lower
 * version: the index has changed since (a tombstone was dropped), so the same bytes may pass now.
 * Unknown: the same bytes might be refused for ever, so the row is read again and sent with a newer
 * version, which is always correct. A create has no version: the document already exists.
 */
static enum outcome outcome_conflict(const struct operation *o, struct span reason, int64_t *seen)
{
    int64_t current = outcome_current_version(reason);
    if (o->version == OPERATION_CREATES) {
        return OUTCOME_DONE;
    }
    if (current == o->version && o->attempts > 1) {
        return OUTCOME_DONE;
    }
    if (current >= 0 && current < o->version) {
        return OUTCOME_RETRY;
    }
    *seen = current > o->version ? current : o->version;
    return OUTCOME_CONFLICT;
}

enum outcome outcome_of_item(const struct operation *o, const struct item *item, int64_t *seen)
{
    size_t count = sizeof(item_rules) / sizeof(item_rules[0]);
    enum outcome outcome = outcome_first_fit(item_rules, count, o->kind, item);
    if ((item->diverted || item->dropped || item->moved) && outcome == OUTCOME_DONE) {
        return OUTCOME_REJECTED;
    }
    if (item->moved && outcome == OUTCOME_CONFLICT) { /* by what another index has */
        return OUTCOME_REJECTED;
    }
    return outcome == OUTCOME_CONFLICT ? outcome_conflict(o, item->reason, seen) : outcome;
}

enum outcome outcome_of_request(int status, const char *type)
{
    struct item item = {.status = status, .type = span_make(type, strlen(type))};
    size_t count = sizeof(request_rules) / sizeof(request_rules[0]);
    return outcome_first_fit(request_rules, count, OPERATION_UPSERT, &item);
}
