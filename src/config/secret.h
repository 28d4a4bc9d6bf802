/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading one secret from where the file says. No message holds a value, nor the text of a command.
 */
#ifndef ROWFERRY_CONFIG_SECRET_H
#define ROWFERRY_CONFIG_SECRET_H

#include <stdint.h>

#include "rowferry/config/config.h"

/* Fills s->value. option: the path for messages; *warning: a text that the caller frees, or null.
 */
int secret_read(struct secret *s, const char *option, int64_t command_timeout_ms, char **warning,
                struct err *err) MUST_CHECK;

/* Wipes and frees all of a configuration. */
void secret_free_all(struct config *c);

/* The usual variables and the usual service, where requests are signed and nothing else is said. */
void secret_complete_aws(struct service_config *s);

/* The first line that /bin/sh -c prints (secret_command.c). */
int secret_from_command(const char *command, const char *option, int64_t timeout_ms, char **out,
                        struct err *err) MUST_CHECK;

/* A line typed on the terminal without echo (secret_prompt.c). */
int secret_from_prompt(const char *prompt, const char *option, char **out,
                       struct err *err) MUST_CHECK;

#define SECRET_MAX_BYTES 65536

#endif
