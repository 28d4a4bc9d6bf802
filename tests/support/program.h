/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs as a user or a scheduler would, and returns their results.
 *
 * Any error fails the test. Programs end with the test that started them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wait.h"

struct program {
    pid_t pid;
    int out_fd;
    int err_fd;
};

struct program_result {
    int exit_code; /* 128 + signal if a signal ended it */
    char *out;     /* standard output, NUL-terminated */
    char *err;     /* standard error */
};

/* Starts argv[0]. env has "NAME=value" texts in addition to the test's own environment. Both end
 * with null; env may be null. */
void program_start(struct program *p, const char *const *argv, const char *const *env);

/* Waits for its end. Returns false if it had to be killed after deadline_ms. */
bool program_ends(struct program *p, int64_t deadline_ms, struct program_result *result);

/* The same, but fails the test if it had to be killed. */
void program_finish(struct program *p, int64_t deadline_ms, struct program_result *result);

void program_signal(const struct program *p, int number);

/* Waits until standard error or output contains the text. Fails if the program ends or deadline_ms
 * passes before. */
void program_await(struct program *p, const char *text, int64_t deadline_ms);

/* Returns its standard error so far; the caller frees it. */
char *program_said(const struct program *p);

bool program_running(const struct program *p);

void program_result_release(struct program_result *result);

/* Fails, showing the text, unless it contains the part. */
void expect_text(const char *text, const char *part);

/* Runs the program under test ($ROWFERRY_PROGRAM) with -c config (null: none) and the arguments,
 * which end with null, for at most RUN_MS. */
void rowferry_run(struct program_result *result, const char *config, ...) __attribute__((sentinel));
void rowferry_start(struct program *p, const char *config, ...) __attribute__((sentinel));

/* Runs it and fails, showing both streams, if the exit code differs. */
void rowferry_expect(int exit_code, const char *config, ...) __attribute__((sentinel));

/* Returns a member of the last line of standard output, which is JSON (sync --json). */
int64_t program_json_int(const struct program_result *result, const char *member);
