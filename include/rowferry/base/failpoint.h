/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failpoints: named points at which a test can kill the process or make a step fail.
 *
 * ROWFERRY_FAILPOINT="checkpoint_before_commit=kill@3,send_batch=error" kills the process (SIGKILL)
 * when it passes the first point for the third time, and makes the second fail each time. If the
 * variable is unset, a point costs one load and one branch. A release build (NDEBUG) has no
 * failpoints and ignores the variable. Otherwise, a user who controls the environment of a program
 * with more privileges could stop it at any point.
 */
#pragma once

#include <stdbool.h>
#include <stdlib.h>

extern bool failpoint_armed; /* set once, before threads start */

/* Parses the value of ROWFERRY_FAILPOINT. Returns false if it is malformed. */
bool failpoint_load(const char *setting);

/* Executes the action configured for this point. Returns true if the caller must fail. */
bool failpoint_hit(const char *name);

#ifdef NDEBUG
#define FAILPOINT(name) false
#define FAILPOINT_LOAD() true
#else
#define FAILPOINT(name) (__builtin_expect(failpoint_armed, 0) && failpoint_hit(name))
#define FAILPOINT_LOAD() failpoint_load(getenv("ROWFERRY_FAILPOINT"))
#endif
