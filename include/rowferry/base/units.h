/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations and sizes as people write them, with their unit: "20ms", "1h", "5MiB", "512B".
 */
#ifndef ROWFERRY_BASE_UNITS_H
#define ROWFERRY_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ms, s, m, h, d after a whole number; false where the text is anything else or overflows. */
bool units_parse_duration(const char *text, int64_t *ms);

/* B, KiB, MiB, GiB after a whole number; false where the text is anything else or overflows. */
bool units_parse_size(const char *text, int64_t *bytes);

#define UNITS_BYTES 32

/* Short texts for people into out[UNITS_BYTES]: "1.5 MiB", "2m 5s", "63,666"; return out. */
char *units_size(char *out, int64_t bytes);
char *units_duration(char *out, int64_t ms);
char *units_count(char *out, int64_t n);

#endif
