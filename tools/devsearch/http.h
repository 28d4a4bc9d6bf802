/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP front (libmicrohttpd): collects requests, asks for credentials, sends answers.
 */
#ifndef DEVSEARCH_HTTP_H
#define DEVSEARCH_HTTP_H

#include "api/server.h"

struct http;

/* Listens as the options say; null and the error where it cannot. */
struct http *http_start(struct server *s, struct err *err);
int http_port(const struct http *h);
void http_stop(struct http *h);

#endif
