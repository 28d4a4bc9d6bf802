/* SPDX-License-Identifier: Apache-2.0 */
/* What every target needs: its entry, how it says what is wrong, and a checker of JSON. */
#ifndef ROWFERRY_TESTS_EXPECT_H
#define ROWFERRY_TESTS_EXPECT_H

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

/* Whether the bytes are one JSON value (RFC 8259) in UTF-8: a checker that shares nothing with the
 * program. */
bool json_valid(const char *text, size_t len);

#endif
