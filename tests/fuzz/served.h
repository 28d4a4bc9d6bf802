/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service without a socket: http_request is replaced by the linker (--wrap) and answers with
 * what the fuzzer made up, so that every reader of an answer runs as it does in the program.
 *
 * An input is lines. The first byte of all chooses the reader: 'a' the first, 'b' the second, and
 * so on. Each line after the first is an answer to a request, in their order: a letter for the
 * status and the body. The last one is given again and again, and after SERVED_MOST requests
 * nobody answers any more.
 */
#ifndef ROWFERRY_TESTS_SERVED_H
#define ROWFERRY_TESTS_SERVED_H

#include "expect.h"
#include "http/service.h"

#define SERVED_MOST 40

typedef void (*served_reader)(struct service *s);

/* Calls the reader that the input chooses, of so many. */
void served(const served_reader *readers, size_t count, const uint8_t *data, size_t size);

/* A result is 0 or `also`, or an error of a known class with a message of one line. */
void served_result(int rc, int also, const struct err *err);

/* A text of a fixed field has an end. */
#define SERVED_ENDS(field)                                                                         \
    FUZZ_EXPECT(memchr((field), '\0', sizeof(field)) != NULL, "%s has no end", #field)

#endif
