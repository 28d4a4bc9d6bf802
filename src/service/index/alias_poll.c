/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a request of index_resolve in its own slot. */
#include "rowferry/service/index/index.h"

#include <stdio.h>
#include <string.h>

#include "http/ask.h"
#include "http/fault.h"
#include "http/secret.h"
#include "http/wire.h"
#include "index/index_private.h"

int alias_poll_begin(struct service *s, const char *name, struct err *err)
{
    struct slot *slot = &s->poll;
    if (s->polling) {
        return 0;
    }
    slot->method = "GET";
    buf_reset(&slot->path);
    buf_push_char(&slot->path, '/');
    text_percent(&slot->path, name, strlen(name));
    int rc = wire_start(slot, s->json_headers, NULL, err);
    s->polling = rc == 0;
    if (s->polling) {
        snprintf(s->poll_name, sizeof(s->poll_name), "%s", name);
    }
    return rc;
}

int alias_poll_end(struct service *s, enum alias_kind *kind, struct index_info *out,
                   struct err *err)
{
    struct slot *slot = &s->poll;
    struct json_object *tree = NULL;
    if (!s->polling || !slot->finished) {
        return ALIAS_POLL_NONE;
    }
    s->polling = false;
    if (slot->result != CURLE_OK) {
        return fault_explain(slot, err);
    }
    if (secret_renewed(slot)) {
        int rc = wire_start(slot, s->json_headers, NULL, err);
        s->polling = rc == 0;
        return rc == 0 ? ALIAS_POLL_NONE : rc;
    }
    int rc = ask_read_description(&slot->answer, buf_text(&slot->path), &tree, err);
    if (rc == 0) {
        index_read_resolved(tree, s->poll_name, kind, out);
    }
    json_object_put(tree);
    return rc;
}
