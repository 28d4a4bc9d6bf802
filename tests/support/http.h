/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests of the tests themselves, apart from the program's own client.
 */
#ifndef ROWFERRY_TESTS_HTTP_H
#define ROWFERRY_TESTS_HTTP_H

#include <json-c/json.h>

struct reply {
    int status; /* 0: no answer */
    char *body;
};

/* One request to url + path; body (JSON or NDJSON) and authorization ("ApiKey ...") may be null. An
 * https service is verified by the authority in the file $ROWFERRY_TEST_CA, where that is set. */
void reply_get(struct reply *reply, const char *method, const char *url, const char *path,
               const char *body, const char *authorization);

/* The authorization for a user and a password; the caller frees it. */
char *reply_basic(const char *user, const char *password);

void reply_release(struct reply *reply);

/* The same, which has to answer with status, as JSON; the caller puts it. */
struct json_object *reply_json(int status, const char *method, const char *url, const char *path,
                               const char *body, const char *authorization);

#endif
