/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a refusal. The first byte chooses the status, the second whether the content type is
 * JSON. Any body must become one line that contains the status, with the status's error class.
 */
#include <string.h>

#include "fuzz.h"
#include "http/body.h"

static const int statuses[] = {301, 400, 401, 403, 404, 408, 409, 413,
                               425, 429, 500, 502, 503, 504, 507, 599};
#define STATUSES (sizeof(statuses) / sizeof(statuses[0]))

static void expect_line(const char *text, const char *what)
{
    for (; *text != '\0'; text++) {
        FUZZ_EXPECT((unsigned char)*text >= 0x20 && *text != 0x7f, "%s holds a control character",
                    what);
    }
}

/* The text must also contain no character that hides or reorders text, and no partial character. */
static void expect_shown(const char *text)
{
    size_t used;
    expect_line(text, "the detail");
    for (size_t left = strlen(text), n; left > 0; text += n, left -= n) {
        n = text_character(text, left);
        FUZZ_EXPECT(n > 0 && text_hidden(text, left, &used) == 0, "the detail hides something");
    }
}

static bool passes(int status)
{
    return status == 408 || status == 425 || status == 429 || (status >= 502 && status <= 504);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char begins[64];
    struct err err;
    if (size < 2) {
        return 0;
    }
    struct http_answer answer = {.status = statuses[data[0] % STATUSES], .json = data[1] % 2 == 1};
    buf_init(&answer.body, (size_t)8 << 20);
    buf_push(&answer.body, (const char *)data + 2, size - 2);
    int rc = http_refuse(&answer, "POST", "/things/_bulk?refresh=false", &err);
    FUZZ_EXPECT(rc == (passes(answer.status) ? ERR_TRANSIENT : ERR_REJECTED), "%d became %d",
                answer.status, rc);
    FUZZ_EXPECT(err.class == rc && err.http_status == answer.status, "%d is not told", rc);
    snprintf(begins, sizeof(begins), "POST /things/_bulk: %d", answer.status);
    FUZZ_EXPECT(strncmp(err.message, begins, strlen(begins)) == 0, "%s", err.message);
    expect_line(err.message, "the message");
    expect_shown(err.detail);
    expect_line(err.hint, "the hint");
    struct json_object *tree = NULL;
    rc = body_expect(&tree, &answer, BODY_ROOT, "GET", "/", &err);
    FUZZ_EXPECT((rc == 0) == (tree != NULL), "%d", rc);
    json_object_put(tree);
    http_answer_release(&answer);
    return 0;
}
