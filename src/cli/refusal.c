/* SPDX-License-Identifier: Apache-2.0 */
/* The members "error" and "hint" of an answer. */
#include "refusal.h"

#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/state/request.h"

void refusal_push(struct buf *out, const char *why, const char *hint)
{
    buf_push_literal(out, "{\"error\":");
    text_json(out, why, strlen(why));
    if (hint[0] != '\0') {
        buf_push_literal(out, ",\"hint\":");
        text_json(out, hint, strlen(hint));
    }
    buf_push_char(out, '}');
}

int refusal_read(struct json_object *answer, const char *otherwise, struct err *err)
{
    const char *why = json_object_get_string(json_object_object_get(answer, "error"));
    const char *hint = json_object_get_string(json_object_object_get(answer, "hint"));
    int rc = err_set(err, ERR_STATE, "%s", why != NULL ? why : otherwise);
    return hint != NULL ? err_hint(err, "%s", hint) : rc;
}

int refusal_withdraw(struct session *s, int64_t id, struct err *err)
{
    return request_answer(s->state, id, REQUEST_FAILED, "{\"error\":\"withdrawn\"}",
                          clock_wall_us(&s->clock), err);
}
