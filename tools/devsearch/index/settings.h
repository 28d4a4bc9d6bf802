/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of an index: a flat list of names and strings, checked against one table.
 */
#pragma once

#include "base/answer.h"

struct json_object;

struct setting {
    char *name; /* with "index." prefix */
    char *value;
};

struct settings {
    struct setting *list;
    size_t count;
};

void settings_release(struct settings *s);

/* Applies {"index":{..}}, {"index.x":..} and {"x":..}; null restores the default. A refusal changes
 * nothing. If creating is true, static settings are allowed. index is its name, for messages. */
int settings_apply(struct settings *s, struct json_object *given, bool creating, const char *index,
                   struct refusal *refusal);

/* Sets a value chosen by the server. */
void settings_put(struct settings *s, const char *name, const char *value);

/* Returns the text of "index.x", or null. */
const char *settings_get(const struct settings *s, const char *name);

/* Returns a duration setting in milliseconds, or the fallback; -1 means never. */
int64_t settings_ms(const struct settings *s, const char *name, int64_t fallback);

/* Appends the settings as a JSON object, nested or flat. */
void settings_push(const struct settings *s, struct buf *out, bool flat);
