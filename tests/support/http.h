/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests made by the tests, independent of the program's own client.
 */
#pragma once

#include <json-c/json.h>

struct reply {
    int status; /* 0: no answer */
    char *body;
};

/* Sends one request to url + path; body (JSON or NDJSON) and authorization ("ApiKey ...") may be
 * null. An https service is verified with the CA in the file $ROWFERRY_TEST_CA, if it is set. */
void reply_get(struct reply *reply, const char *method, const char *url, const char *path,
               const char *body, const char *authorization);

/* Returns the authorization for a user and a password; the caller frees it. */
char *reply_basic(const char *user, const char *password);

void reply_release(struct reply *reply);

/* The same, but the answer must have this status. Returns it as JSON, which the caller puts. */
struct json_object *reply_json(int status, const char *method, const char *url, const char *path,
                               const char *body, const char *authorization);
