/* SPDX-License-Identifier: Apache-2.0 */
/* Answers requests from the fuzzer's input. */
#include "served.h"

#include <string.h>

static struct {
    const char *next; /* answer to the next request */
    const char *end;
    size_t requests;
} input;

/* Maps "2" to 200, and so on; any other letter means no answer. */
static int status_of(char c)
{
    static const struct {
        char letter;
        int status;
    } statuses[] = {{'2', 200}, {'1', 201}, {'3', 403}, {'4', 404},
                    {'0', 400}, {'8', 408}, {'5', 503}, {'9', 409}};
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        if (statuses[i].letter == c) {
            return statuses[i].status;
        }
    }
    return 0;
}

static struct span next_line(void)
{
    size_t left = (size_t)(input.end - input.next);
    const char *newline = memchr(input.next, '\n', left);
    struct span line = {input.next, newline != NULL ? (size_t)(newline - input.next) : left};
    if (newline != NULL && newline + 1 < input.end) {
        input.next = newline + 1;
    }
    return line;
}

int __wrap_http_request(struct service *s, const char *method, const char *path, struct span body,
                        struct http_answer *answer, struct err *err);

int __wrap_http_request(struct service *s, const char *method, const char *path, struct span body,
                        struct http_answer *answer, struct err *err)
{
    struct span line = next_line();
    int status = line.len > 0 ? status_of(line.data[0]) : 0;
    (void)body;
    *answer = (struct http_answer){.status = status, .json = true, .origin = "fuzz:9200"};
    buf_init(&answer->body, HTTP_BODY_MAX_BYTES);
    FUZZ_EXPECT(path[0] == '/' && method[0] != '\0', "%s %s", method, path);
    if (status == 0 || input.requests++ >= SERVED_MOST) {
        return err_set(err, ERR_TRANSIENT, "nobody answers %s %s", method, path);
    }
    buf_push(&answer->body, line.data + 1, line.len - 1);
    s->slots[0].overflow = answer->body.len > s->slots[0].answer.body.max_bytes;
    return 0;
}

void served(const served_reader *readers, size_t count, const uint8_t *data, size_t size)
{
    static struct slot slots[1];
    const char *text = (const char *)data;
    const char *first = size > 0 ? memchr(text, '\n', size) : NULL;
    struct service s = {.options = {.request_timeout_ms = 30000, .in_flight = 1}, .slots = slots};
    if (first == NULL || data[0] < 'a') {
        return;
    }
    input.next = first + 1;
    input.end = text + size;
    input.requests = 0;
    slots[0] = (struct slot){.service = &s, .answer.body.max_bytes = HTTP_BODY_MAX_BYTES};
    readers[(size_t)(data[0] - 'a') % count](&s);
}

void served_result(int rc, int also, const struct err *err)
{
    FUZZ_EXPECT(rc <= 0 || rc == also, "%d", rc);
    FUZZ_EXPECT(rc >= ERR_INTERNAL, "%d", rc);
    if (rc < 0) {
        FUZZ_EXPECT(err->class == (enum err_class)rc && err->message[0] != '\0', "%d: %s", rc,
                    err->message);
        FUZZ_EXPECT(strpbrk(err->message, "\n\r\t\033") == NULL, "%s", err->message);
    }
}
