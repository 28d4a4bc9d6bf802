/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service without a socket. The linker replaces http_request (--wrap) with a function that
 * answers from the fuzzer's input, so that every parser of answers runs as in the program.
 *
 * An input consists of lines. Its first byte chooses the reader: 'a' the first, 'b' the second, and
 * so on. Each line after the first answers one request, in order: a letter for the status and the
 * body. The last one is repeated, and after SERVED_MOST requests all further ones fail.
 */
#pragma once

#include "expect.h"
#include "http/service.h"

#define SERVED_MOST 40

typedef void (*served_reader)(struct service *s);

/* Calls the reader that the input chooses; `count` is their number. */
void served(const served_reader *readers, size_t count, const uint8_t *data, size_t size);

/* Expects 0 or `also`, or an error of a known class with a message of one line. */
void served_result(int rc, int also, const struct err *err);

/* Expects that the text in a fixed-size field is NUL-terminated. */
#define SERVED_ENDS(field)                                                                         \
    FUZZ_EXPECT(memchr((field), '\0', sizeof(field)) != NULL, "%s has no end", #field)
