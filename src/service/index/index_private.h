/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sources behind index.h share.
 */
#ifndef ROWFERRY_SERVICE_INDEX_PRIVATE_H
#define ROWFERRY_SERVICE_INDEX_PRIVATE_H

#include <json-c/json.h>

#include "rowferry/base/buf.h"
#include "rowferry/service/index/index.h"

/* From the description of a concrete index ("mappings", "settings"). */
void index_info_read(struct index_info *out, const char *name, struct json_object *description);

/* What a name stands for, from what ask_description says of it (null: nothing). */
void index_read_resolved(struct json_object *tree, const char *name, enum alias_kind *kind,
                         struct index_info *out);

/* Whether the description is that of the data stream `name`: then *out is the stream. */
bool stream_read(struct json_object *tree, const char *name, struct index_info *out);

/* Which backing index of its stream a name is: ".ds-shop-2026.11.22-000003" and what a lifecycle
 * makes of it, "shrink-ab1c-.ds-shop-2026.11.22-000003", are 3; 0 where there is no number. The
 * byte behind the name is no digit. */
int64_t stream_number(struct span backing);

/* Of a refused mapping that is written for the other product. */
void index_hint_type(struct err *err);

/* {"action":{"index":..,"alias":..<rest>}} of a call of _aliases. */
void index_push_action(struct buf *out, const char *action, const char *index, const char *alias,
                       const char *rest);

/* Elasticsearch may acknowledge a call of which an action failed. */
int index_check_swapped(struct json_object *tree, const char *alias, struct err *err) MUST_CHECK;

/* No answer is no refusal, and a request that was repeated may be refused for what the first one
 * did: the alias itself tells. */
bool index_swapped_after_all(struct service *s, const char *alias, const char *to);

/* GET /_cluster/health/<name>, waiting that long for the status; the answer's status is told. A
 * result of INDEX_UNSEEN: the credential may not ask. */
int index_health(struct service *s, const char *name, const char *wanted, int64_t timeout_ms,
                 char status[16], struct err *err) MUST_CHECK;

#endif
