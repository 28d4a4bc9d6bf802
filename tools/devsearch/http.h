/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP front end (libmicrohttpd): receives requests, checks credentials, sends answers.
 */
#pragma once

#include "api/server.h"

struct http;

/* Listens as configured; returns null with the error on failure. */
struct http *http_start(struct server *s, struct err *err);
int http_port(const struct http *h);
void http_stop(struct http *h);
