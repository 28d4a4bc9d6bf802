/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of single texts. Each sets ERR_CONFIG and a message; the caller prepends the place of the
 * option.
 */
#pragma once

#include "rowferry/base/err.h"

/* A pipeline's name: letters, digits, - and _, 1 to 40. */
int text_check_name(const char *value, struct err *err) MUST_CHECK;
/* A table's name that source/sql/tablename.h can read. */
int text_check_table(const char *value, struct err *err) MUST_CHECK;
/* A time zone with daylight time, by its full name: "Europe/Berlin", or "UTC". PostgreSQL reads
 * abbreviations and offsets too, but an abbreviation is a fixed offset, and "UTC+2" is west. */
int text_check_zone(const char *value, struct err *err) MUST_CHECK;
/* A mapping that the document module can read. */
int text_check_mapping(const char *json, struct err *err) MUST_CHECK;
