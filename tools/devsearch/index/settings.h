/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of an index: a flat list of names and texts, checked against one table.
 */
#ifndef DEVSEARCH_SETTINGS_H
#define DEVSEARCH_SETTINGS_H

#include "base/answer.h"

struct json_object;

struct setting {
    char *name; /* with "index." */
    char *value;
};

struct settings {
    struct setting *list;
    size_t count;
};

void settings_release(struct settings *s);

/* Takes {"index":{..}}, {"index.x":..} and {"x":..}; null restores the default. Nothing is changed
 * where it refuses. creating: settings that are fixed later are allowed. index: for the texts. */
int settings_apply(struct settings *s, struct json_object *given, bool creating, const char *index,
                   struct refusal *refusal);

/* Sets one that the server itself chooses. */
void settings_put(struct settings *s, const char *name, const char *value);

/* The text of "index.x", or null. */
const char *settings_get(const struct settings *s, const char *name);

/* Milliseconds of a duration setting, or the fallback; -1 means never. */
int64_t settings_ms(const struct settings *s, const char *name, int64_t fallback);

/* The settings as a JSON object, nested or flat. */
void settings_push(const struct settings *s, struct buf *out, bool flat);

#endif
