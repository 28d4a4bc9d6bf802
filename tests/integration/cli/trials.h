/* SPDX-License-Identifier: Apache-2.0 */
/* Runs validate and reads its findings. */
#pragma once

#include <json-c/json.h>
#include <string.h>

#include "http.h"
#include "suite.h"
#include "world.h"

#define ROWS 300

/* Expects that no index or alias of a trial exists. */
static inline void expect_none(const struct world *w)
{
    struct json_object *found = reply_json(200, "GET", w->service.url, "/*?expand_wildcards=all",
                                           NULL, "ApiKey " WORLD_API_KEY);
    json_object_object_foreach(found, name, ignored)
    {
        (void)ignored;
        ck_assert_msg(strstr(name, "validate") == NULL, "left: %s", name);
    }
    json_object_put(found);
}

/* Runs validate with --json, and --against unless it is null; the caller owns the tree. */
static inline struct json_object *validate_against(const struct world *w, const char *other,
                                                   int exit_code)
{
    struct program_result r;
    rowferry_run(&r, w->config, "validate", "--json", other != NULL ? "--against" : NULL, other,
                 NULL);
    ck_assert_msg(r.exit_code == exit_code, "%d: %s%s", r.exit_code, r.out, r.err);
    ck_assert_ptr_null(strstr(r.out, WORLD_API_KEY));
    struct json_object *tree = json_tokener_parse(r.out);
    ck_assert_msg(tree != NULL, "%s%s", r.out, r.err);
    program_result_release(&r);
    expect_none(w);
    return tree;
}

static inline struct json_object *validate(const struct world *w, int exit_code)
{
    return validate_against(w, NULL, exit_code);
}

static inline const char *member(struct json_object *o, const char *name)
{
    const char *text = json_object_get_string(json_object_object_get(o, name));
    return text != NULL ? text : "";
}

static inline struct json_object *step_of(struct json_object *tree, const char *name)
{
    struct json_object *steps = json_object_object_get(tree, "steps");
    for (size_t i = 0; i < json_object_array_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);
        if (strcmp(member(step, "step"), name) == 0) {
            return step;
        }
    }
    ck_abort_msg("no step %s", name);
}

static inline int64_t figure(struct json_object *tree, const char *name)
{
    return json_object_get_int64(
        json_object_object_get(json_object_object_get(tree, "figures"), name));
}

/* Expects that the step has the status, with these words in a note and these in its remedy. */
static inline void expect_noted(struct json_object *tree, const char *status, const char *name,
                                const char *words, const char *remedy)
{
    struct json_object *step = step_of(tree, name);
    ck_assert_msg(strcmp(member(step, "status"), status) == 0, "%s",
                  json_object_to_json_string(tree));
    struct json_object *notes = json_object_object_get(step, "notes");
    bool found = false;
    for (size_t i = 0; i < json_object_array_length(notes); i++) {
        struct json_object *note = json_object_array_get_idx(notes, i);
        found = found || (strstr(member(note, "text"), words) != NULL &&
                          strstr(member(note, "remedy"), remedy) != NULL);
    }
    ck_assert_msg(found, "no \"%s\" with \"%s\" in %s", words, remedy,
                  json_object_to_json_string(notes));
}

static inline void expect_status(struct json_object *tree, const char *name, const char *status)
{
    ck_assert_msg(strcmp(member(step_of(tree, name), "status"), status) == 0, "%s: %s", name,
                  json_object_to_json_string(step_of(tree, name)));
}
