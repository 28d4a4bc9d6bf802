/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The failure of a statement that meets a character of the database's encoding which UTF8 lacks
 * (0x81 of WIN1252). Pure.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/err.h"

#define UNTRANSLATABLE_BYTES 8 /* maximum of a character */
#define UNTRANSLATABLE_SIZE (2 * UNTRANSLATABLE_BYTES + 1)

/* Finds the character that PostgreSQL's message names; writes it as hexadecimal digits. Returns
 * false if the message names none. */
bool untranslatable_character(const char *words, char out[UNTRANSLATABLE_SIZE]) MUST_CHECK;

/* Returns true if the error is a failure of this kind. */
bool untranslatable_met(const struct err *why) MUST_CHECK;
