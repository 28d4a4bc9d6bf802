/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proxy between the program and PostgreSQL. It forwards the protocol message by message,
 * falsifies one result of the server, or goes silent while every connection stays open.
 *
 * Results are counted over all connections since pgproxy_plan, one per statement. A result ends
 * with its CommandComplete.
 */
#pragma once

#include <stddef.h>

enum pgproxy_fault {
    PGPROXY_NONE,
    PGPROXY_NULLS,      /* all values of the result are NULL */
    PGPROXY_NO_ROWS,    /* its rows are left out */
    PGPROXY_FEWER,      /* its last column is left out */
    PGPROXY_WORDS,      /* every value is a word */
    PGPROXY_ENDLESS,    /* its first row is repeated forever; without rows, its end is */
    PGPROXY_COPY,       /* a COPY begins instead */
    PGPROXY_ERROR,      /* an error follows the first row */
    PGPROXY_FAULTS,     /* number of faults */
    PGPROXY_SILENT = 20 /* from this result on nothing is forwarded */
};

struct pgproxy; /* opaque */

/* The server listens on a port of 127.0.0.1. */
struct pgproxy *pgproxy_start(int server_port);
void pgproxy_stop(struct pgproxy *p);

int pgproxy_port(const struct pgproxy *p);

/* Falsifies result number `nth` (from 1) of those that follow. Ends a silence for new
 * connections. */
void pgproxy_plan(struct pgproxy *p, size_t nth, enum pgproxy_fault fault);

/* From now on forwards nothing, in either direction, on any connection. */
void pgproxy_silence(struct pgproxy *p);

/* Returns how many results have arrived since the plan. */
size_t pgproxy_results(struct pgproxy *p);
