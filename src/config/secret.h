/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one secret from its origin. No message contains a value or the text of a command.
 */
#pragma once

#include <stdint.h>

#include "rowferry/config/config.h"

/* Fills s->value. `option` is the path for messages. *warning becomes a text that the caller frees,
 * or null. */
int secret_read(struct secret *s, const char *option, int64_t command_timeout_ms, char **warning,
                struct err *err) MUST_CHECK;

/* Returns true if reading it again may give another value. */
bool secret_can_change(enum secret_origin origin);

/* Wipes and frees all secrets of a configuration. */
void secret_free_all(struct config *c);

/* Sets the usual variables and service if requests are signed and the file does not name others. */
void secret_complete_aws(struct service_config *s);

/* Reads the first line that /bin/sh -c prints (secret_command.c). */
int secret_from_command(const char *command, const char *option, int64_t timeout_ms, char **out,
                        struct err *err) MUST_CHECK;

#define SECRET_MAX_BYTES 65536
