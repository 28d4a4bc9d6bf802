/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the placeholders of an SQL text. */
#include "pg/template.h"

#include <stddef.h>
#include <string.h>

static const struct placeholder *template_find(const struct placeholder *places, const char *name,
                                               size_t len)
{
    for (; places->name != NULL; places++) {
        if (strlen(places->name) == len && memcmp(places->name, name, len) == 0) {
            return places;
        }
    }
    return NULL;
}

void template_fill(struct buf *out, const char *text, const struct placeholder *places)
{
    for (const char *open = strchr(text, '{'); open != NULL; open = strchr(text, '{')) {
        size_t len = strcspn(open + 1, "{}");
        const struct placeholder *place =
            open[len + 1] == '}' ? template_find(places, open + 1, len) : NULL;
        size_t skip = place != NULL ? len + 2 : 1;
        buf_push(out, text, (size_t)(open - text));
        if (place != NULL) {
            buf_push_text(out, place->text);
        } else {
            buf_push_literal(out, "{");
        }
        text = open + skip;
    }
    buf_push_text(out, text);
}
