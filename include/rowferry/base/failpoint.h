/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Named points at which a test can kill the process or fail a step.
 *
 * ROWFERRY_FAILPOINT="checkpoint_before_commit=kill@3,send_batch=error" kills the process (SIGKILL)
 * the third time the first point is passed, and fails the second each time. Unset, a point costs
 * one load and one branch. A release build (NDEBUG) has no points and ignores the variable: whoever
 * can set the environment of a program that runs with more rights could stop it anywhere.
 */
#ifndef ROWFERRY_BASE_FAILPOINT_H
#define ROWFERRY_BASE_FAILPOINT_H

#include <stdbool.h>
#include <stdlib.h>

extern bool failpoint_armed; /* set once, before threads start */

/* Reads ROWFERRY_FAILPOINT; false where it is malformed. */
bool failpoint_load(const char *setting);

/* Does what was asked at this point; true where the caller shall fail. */
bool failpoint_hit(const char *name);

#ifdef NDEBUG
#define FAILPOINT(name) false
#define FAILPOINT_LOAD() true
#else
#define FAILPOINT(name) (__builtin_expect(failpoint_armed, 0) && failpoint_hit(name))
#define FAILPOINT_LOAD() failpoint_load(getenv("ROWFERRY_FAILPOINT"))
#endif

#endif
