/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions shared by the sources behind index.h.
 */
#pragma once

#include <json-c/json.h>

#include "rowferry/base/buf.h"
#include "rowferry/service/index/index.h"

/* Fills *out from the description of a concrete index ("mappings", "settings"). */
void index_info_read(struct index_info *out, const char *name, struct json_object *description);

/* Returns `_meta.rowferry` of a description, or null. */
struct json_object *index_ours_in(struct json_object *description);

/* Checks that an index or data stream has the generation's uuid (else ERR_STATE), and that its
 * _meta names the pipeline (else ERR_INTERNAL). what: "index" or "data stream". */
int index_expect_same(const struct index_info *at, const struct generation_id *g, const char *what,
                      struct err *err) MUST_CHECK;

/* Resolves a name from the result of ask_description (null: the name is free). */
void index_read_resolved(struct json_object *tree, const char *name, enum alias_kind *kind,
                         struct index_info *out);

/* Returns true and fills *out with the stream if the description is that of the data stream
 * `name`. */
bool stream_read(struct json_object *tree, const char *name, struct index_info *out);

/* Returns the number of a backing index: 3 for ".ds-shop-2026.11.22-000003" and for the name that a
 * lifecycle makes of it, "shrink-ab1c-.ds-shop-2026.11.22-000003". 0 if there is no number. The
 * byte after the name must not be a digit. */
int64_t stream_number(struct span backing);

/* One action of an _aliases request: {"<action>":{"index":..,"alias":..<rest>}}. */
struct index_action {
    const char *action, *index;
    const char *alias; /* null: none */
    const char *rest;
};

/* Sends all actions in one _aliases request, which is atomic. `alias` is for messages. */
int index_change_aliases(struct service *s, const struct index_action *actions, size_t count,
                         const char *alias, struct err *err) MUST_CHECK;

/* Returns true if the alias points at `to`. Needed after a lost answer, and after a repeated
 * request that is refused because the first one succeeded. */
bool index_swapped_after_all(struct service *s, const char *alias, const char *to);

/* --- index_settings.c: settings {"x": 1}, {"index": {"x": 1}} or {"index.x": 1} ------------- */

/* Appends the settings for the initial load: the configured object (null = none) with
 * refresh_interval -1, number_of_replicas 0, auto_expand_replicas false if that is configured, and
 * gc_deletes 1h unless configured. ERR_CONFIG if configured is not an object. */
int index_settings_filling(struct buf *out, const char *configured, struct err *err) MUST_CHECK;

/* Appends the settings after the initial load. refresh_interval and number_of_replicas are null,
 * which is the service's default, unless configured. */
int index_settings_finished(struct buf *out, const char *configured, struct err *err) MUST_CHECK;

/* Sends GET /_cluster/health/<name> and waits up to timeout_ms for the wanted status. status
 * receives the current one. Returns INDEX_UNSEEN if the credential may not read it. */
int index_health(struct service *s, const char *name, const char *wanted, int64_t timeout_ms,
                 char status[16], struct err *err) MUST_CHECK;
