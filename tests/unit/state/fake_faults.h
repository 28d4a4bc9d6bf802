/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one call of SQLite's files, memory or statements fail:
 *
 *     faults_install()                    returns true; before anything is opened
 *     faults_begin(FAULT_FULL, 3);        only the third write from now on fails: disk full
 *     ...
 *     bool came = faults_end();
 */
#pragma once

#include <stdbool.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_IOERR,     /* any file call, with an I/O error of its kind */
    FAULT_FULL,      /* writes */
    FAULT_BUSY,      /* locks */
    FAULT_NOMEM,     /* an allocation */
    FAULT_DENY,      /* the preparation of a statement, at each of its actions */
    FAULT_INTERRUPT, /* a running statement, at each of its operations */
    FAULT_KINDS
};

bool faults_install(void);
void faults_begin(enum fault_kind of, int nth);
/* Returns true if the call occurred. */
bool faults_end(void);
