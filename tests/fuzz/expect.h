/* SPDX-License-Identifier: Apache-2.0 */
/* Needed by every target: its entry point, error reporting, and a JSON validator. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_EXPECT(condition, ...)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s: ", __FILE__, __LINE__, #condition);              \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Returns true if the bytes are one JSON value (RFC 8259) in UTF-8. Shares no code with the
 * program. */
bool json_valid(const char *text, size_t len);
