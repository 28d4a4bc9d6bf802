/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the file's tree to the structs: walks the JSON along the option table.
 */
#pragma once

#include <json-c/json.h>

#include "options.h"
#include "rowferry/config/config.h"
#include "syntax/scan.h"

struct config_reader {
    const char *file; /* as messages name it */
    const char *text; /* comments are blanked */
    size_t len;
    struct config *config;
    struct pipeline_config inherited; /* top-level values of the SCOPE_BOTH options */
    struct err *err;
};

/* Reads the whole tree into reader->config, which must be zeroed. */
int read_tree(struct config_reader *r, struct json_object *root) MUST_CHECK;

/* Parses a configuration from memory. Messages call it `path`. */
int config_load_text(struct config **out, const char *path, struct buf *text,
                     struct err *err) MUST_CHECK;

/* Sets ERR_CONFIG at the place of path's key or value: `file:line:column: ` and the text. */
int read_fail(const struct config_reader *r, const char *path, enum scan_end end,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reports `"limits" is a string; an object is expected`. */
int read_fail_kind(const struct config_reader *r, const char *path, struct json_object *value,
                   const char *expected);

/* Prepends the place to the message of err. */
int read_fail_again(const struct config_reader *r, const char *path);

/* Reads one value into the member at target (value.c). */
int value_read(struct config_reader *r, const struct option *o, const char *path,
               struct json_object *value, void *target) MUST_CHECK;

/* Sets the default of the table, for an option that the file does not contain. */
void value_default(const struct option *o, void *target);

/* Returns the index of a choice; -1 if unknown, -2 if known but not available. */
int value_choice(const char *choices, const char *text);

/* Returns the available choices, as "debug, info, warn, error"; the caller frees. */
char *value_choices(const char *choices);

/* Reads a string, or {"env": NAME, "default": ...}; the caller frees (value_text.c). */
int value_text(struct config_reader *r, const char *path, struct json_object *value,
               char **out) MUST_CHECK;

/* Reads the origin of a secret (value_secret.c). */
int value_secret(struct config_reader *r, const char *path, struct json_object *value,
                 struct secret *out) MUST_CHECK;

/* The members that an object may have, and a check of the object after it was read. */
struct value_object {
    const struct option *members; /* ends with a null path; offsets are within an item */
    size_t item_bytes;            /* of a list */
    const char *hint;             /* for an unknown key */
    int (*check)(const struct config_reader *r, const char *path, const void *item);
};

/* Reads one object into a struct (value_objects.c). */
int value_object(struct config_reader *r, const struct value_object *o, const char *path,
                 struct json_object *value, void *item) MUST_CHECK;

/* Reads a list of objects into *items, which the caller frees even after an error
 * (value_objects.c). */
int value_objects(struct config_reader *r, const struct value_object *o, const char *path,
                  struct json_object *value, void **items, size_t *count) MUST_CHECK;

/* Reads the tables that a query depends on into a pointer followed by its count
 * (value_dependency.c). */
int value_dependencies(struct config_reader *r, const char *path, struct json_object *value,
                       void *target) MUST_CHECK;

/* Reads the fields into a pointer followed by its count (value_fields.c). */
int value_fields(struct config_reader *r, const char *path, struct json_object *value,
                 void *target) MUST_CHECK;

/* Reads searches and their expected hits in the same way (value_query.c). */
int value_queries(struct config_reader *r, const char *path, struct json_object *value,
                  void *target) MUST_CHECK;

/* Reads the grades of a search's documents in the same way (value_query.c). */
int value_judgements(struct config_reader *r, const char *path, struct json_object *value,
                     void *target) MUST_CHECK;

/* Returns the type of a value for messages: "a string", "a number" ... */
const char *value_kind(struct json_object *value);

/* Returns the path to open: relative ones are resolved against the file's directory. */
char *value_beside(const char *file, const char *path);
