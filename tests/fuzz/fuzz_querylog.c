/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with searches of an application. Any bytes are read or refused with a line's number, and
 * each search that was read is one line of JSON, which gives the same search when it is read again.
 */
#include <string.h>

#include "fuzz.h"
#include "rowferry/service/trial/querylog.h"

static void take_field(void *context, enum field_use use, const char *field)
{
    size_t *count = context;
    FUZZ_EXPECT(use == USE_SEMANTIC || *field != '\0', "a use %d without a field", (int)use);
    ++*count;
}

static void expect_search(const struct querylog_search *s)
{
    struct querylog again;
    struct err err;
    size_t fields = 0;
    size_t len = strlen(s->body);
    FUZZ_EXPECT(s->line > 0 && strchr(s->body, '\n') == NULL, "line %zu: %s", s->line, s->body);
    querylog_fields(s->body, take_field, &fields);
    FUZZ_EXPECT(fields <= len, "%zu fields of %zu bytes", fields, len);
    if (querylog_read(&again, "again", span_make(s->body, len), &err) == 0) {
        FUZZ_EXPECT(again.count == 1 && strcmp(again.items[0].body, s->body) == 0, "%s", s->body);
    }
    querylog_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct querylog q;
    struct err err;
    int rc = querylog_read(&q, "file", span_make((const char *)data, size), &err);
    FUZZ_EXPECT(rc == 0 || (rc == ERR_CONFIG && strncmp(err.message, "file:", 5) == 0), "%d: %s",
                rc, err.message);
    FUZZ_EXPECT(q.count + q.left_out <= q.searches && q.count <= QUERYLOG_MOST, "%zu of %zu",
                q.count, q.searches);
    for (size_t i = 0; i < q.count; i++) {
        expect_search(&q.items[i]);
    }
    querylog_release(&q);
    return 0;
}
