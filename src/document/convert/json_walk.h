/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parts of json_check. */
#pragma once

#include "convert/json_check.h"
#include "rowferry/document/convert/type.h"
#include "json/json_cursor.h"

/* The names that lead to a value, from the innermost outwards; null: the property itself. */
struct json_path {
    const struct json_path *above;
    struct span name; /* as written, with escapes */
};

struct json_walk {
    struct json_reader reader;
    struct buf *out; /* a refusal that names its path is written behind the value */
};

/* Returns the reason, with `in "path"` if the path is not empty. */
type_refusal json_refuse(struct json_walk *w, const struct json_path *path, const char *reason);

/* Check values with a structure of their own. */
type_refusal json_walk_flat(struct json_walk *w, const struct property *p,
                            const struct json_path *path);
type_refusal json_walk_place(struct json_walk *w, const struct property *p,
                             const struct json_path *path);
type_refusal json_walk_features(struct json_walk *w, const struct json_path *path);
