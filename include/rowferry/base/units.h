/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations and sizes with units, as written by people: "20ms", "1h", "5MiB", "512B".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parses a whole number. Returns false if the text is anything else or overflows. */
bool units_parse_count(const char *text, int64_t *count);

/* Parses a whole number followed by ms, s, m, h or d. Returns false if the text is anything else or
 * overflows. */
bool units_parse_duration(const char *text, int64_t *ms);

/* Parses a whole number followed by B, KiB, MiB or GiB. Returns false if the text is anything else
 * or overflows. */
bool units_parse_size(const char *text, int64_t *bytes);

#define UNITS_BYTES 32

/* Write a short text into out[UNITS_BYTES], such as "1.5 MiB", "2m 5s" or "63,666". Return out. */
char *units_size(char *out, int64_t bytes);
char *units_duration(char *out, int64_t ms);
char *units_count(char *out, int64_t n);
