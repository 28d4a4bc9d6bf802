/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the file's tree to the structs: walks the JSON along the option table.
 */
#ifndef ROWFERRY_CONFIG_READ_H
#define ROWFERRY_CONFIG_READ_H

#include <json-c/json.h>

#include "options.h"
#include "rowferry/config/config.h"
#include "scan.h"

struct reader {
    const char *file; /* as messages name it */
    const char *text; /* comments blanked */
    size_t len;
    struct config *config;
    struct pipeline_config inherited; /* the options of SCOPE_BOTH at the top level */
    struct err *err;
};

/* Reads the whole tree into reader->config, which is zeroed before. */
int read_tree(struct reader *r, struct json_object *root) MUST_CHECK;

/* A configuration that is a text; path is what messages call it. */
int config_load_text(struct config **out, const char *path, struct buf *text,
                     struct err *err) MUST_CHECK;

/* ERR_CONFIG at the place of path's key or value: `file:line:column: ` and the text. */
int read_fail(const struct reader *r, const char *path, enum scan_end end, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* `"limits" is a string; an object is expected`. */
int read_fail_kind(const struct reader *r, const char *path, struct json_object *value,
                   const char *expected);

/* Puts the place before what err says already. */
int read_fail_again(const struct reader *r, const char *path);

/* One value into the member at target (value.c). */
int value_read(struct reader *r, const struct option *o, const char *path,
               struct json_object *value, void *target) MUST_CHECK;

/* The value that the table says where the file says nothing. */
void value_default(const struct option *o, void *target);

/* A choice's number; -1 unknown, -2 known but not available. */
int value_choice(const char *choices, const char *text);

/* "debug, info, warn, error": those that are available; the caller frees. */
char *value_choices(const char *choices);

/* A string, or {"env": NAME, "default": ...}; the caller frees (value_text.c). */
int value_text(struct reader *r, const char *path, struct json_object *value,
               char **out) MUST_CHECK;

/* Where a secret comes from (value_secret.c). */
int value_secret(struct reader *r, const char *path, struct json_object *value,
                 struct secret *out) MUST_CHECK;

/* What an object of a list may say, and what must hold of it once it is read. */
struct value_object {
    const struct option *members; /* ends with a null path; offsets are within an item */
    size_t item_bytes;
    const char *hint; /* of a key that is none of them */
    int (*check)(const struct reader *r, const char *path, const void *item);
};

/* A list of objects into *items, which the caller frees whatever comes of it (value_objects.c). */
int value_objects(struct reader *r, const struct value_object *o, const char *path,
                  struct json_object *value, void **items, size_t *count) MUST_CHECK;

/* Tables that a query depends on, into a pointer with its count behind it (value_dependency.c). */
int value_dependencies(struct reader *r, const char *path, struct json_object *value,
                       void *target) MUST_CHECK;

/* Searches and what they find, the same way (value_query.c). */
int value_queries(struct reader *r, const char *path, struct json_object *value,
                  void *target) MUST_CHECK;

/* "a string", "a number" ...: what stands there, for messages. */
const char *value_kind(struct json_object *value);

/* The path as the process has to open it: relative ones are beside the file. */
char *value_beside(const char *file, const char *path);

#endif
