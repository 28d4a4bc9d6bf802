/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite's files, memory and statements, of which one call fails:
 *
 *     faults_install()                    true; before anything is opened
 *     faults_begin(FAULT_FULL, 3);        the third write from now on finds no room, and only it
 *     ...
 *     bool came = faults_end();
 */
#ifndef ROWFERRY_TESTS_FAKE_FAULTS_H
#define ROWFERRY_TESTS_FAKE_FAULTS_H

#include <stdbool.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_IOERR,     /* any call to a file, with the code of its own */
    FAULT_FULL,      /* what writes */
    FAULT_BUSY,      /* what locks */
    FAULT_NOMEM,     /* an allocation */
    FAULT_DENY,      /* the preparation of a statement, at each thing that it does */
    FAULT_INTERRUPT, /* a statement in the midst of its work, at each of its operations */
    FAULT_KINDS
};

bool faults_install(void);
void faults_begin(enum fault_kind of, int nth);
/* Whether the call came. */
bool faults_end(void);

#endif
