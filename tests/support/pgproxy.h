/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the program and PostgreSQL: passes the protocol on, message by message, falsifies one
 * result of the server, or goes silent while every connection stays open.
 *
 * Results are counted over all connections since pgproxy_plan: each statement's answer is one. A
 * result ends with its CommandComplete.
 */
#ifndef ROWFERRY_TESTS_PGPROXY_H
#define ROWFERRY_TESTS_PGPROXY_H

#include <stddef.h>

enum pgproxy_fault {
    PGPROXY_NONE,
    PGPROXY_NULLS,      /* every value of the result is NULL */
    PGPROXY_NO_ROWS,    /* its rows are left out */
    PGPROXY_FEWER,      /* its last column is left out */
    PGPROXY_WORDS,      /* every value is a word */
    PGPROXY_ENDLESS,    /* its first row comes again and again; without rows, its end does */
    PGPROXY_COPY,       /* a COPY begins in its place */
    PGPROXY_ERROR,      /* an error follows the first row */
    PGPROXY_FAULTS,     /* how many there are */
    PGPROXY_SILENT = 20 /* from the result on nothing is passed on any more */
};

struct pgproxy; /* opaque */

/* The server listens on a port of 127.0.0.1. */
struct pgproxy *pgproxy_start(int server_port);
void pgproxy_stop(struct pgproxy *p);

int pgproxy_port(const struct pgproxy *p);

/* Falsifies result number `nth` (the first is 1) of those that come from now on, and passes on
 * again what is connected from now on. */
void pgproxy_plan(struct pgproxy *p, size_t nth, enum pgproxy_fault fault);

/* From now on nothing is passed on, in either direction, of whatever connection. */
void pgproxy_silence(struct pgproxy *p);

/* How many results have come since the plan. */
size_t pgproxy_results(struct pgproxy *p);

#endif
