/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members "error" and "hint" of an answer. */
#include "output/refusal.h"

#include "rowferry/document/json/json_tree.h"

#include "rowferry/state/request.h"

int refusal_read(struct json_object *answer, const char *otherwise, struct err *err)
{
    const char *why = json_object_get_string(json_tree_member(answer, "error"));
    const char *hint = json_object_get_string(json_tree_member(answer, "hint"));
    int rc = err_set(err, ERR_STATE, "%s", why != NULL ? why : otherwise);
    return hint != NULL ? err_hint(err, "%s", hint) : rc;
}

int refusal_withdraw(struct session *s, int64_t id, struct err *err)
{
    return request_refuse(s->state, id, "withdrawn", "", clock_wall_us(&s->clock), err);
}
