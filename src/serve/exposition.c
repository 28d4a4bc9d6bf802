/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the text format; labels may contain anything. */
#include "exposition.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "rowferry/base/text.h"

#define VALUE_BYTES 4096

void exposition_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Escapes backslash, quote and line feed; repairs invalid UTF-8. */
static void exposition_push_value(struct buf *out, const char *value)
{
    struct buf valid;
    buf_init(&valid, VALUE_BYTES);
    text_valid(&valid, value, text_cut(value, strlen(value), VALUE_BYTES / 4));
    for (const char *at = buf_text(&valid); *at != '\0'; at++) {
        if (*at == '\n') {
            buf_push_literal(out, "\\n");
            continue;
        }
        if (*at == '\\' || *at == '"') {
            buf_push_char(out, '\\');
        }
        buf_push_char(out, *at);
    }
    buf_release(&valid);
}

static void exposition_push_series(struct buf *out, const char *name, const char *suffix,
                                   const struct label *labels)
{
    bool any = false;
    buf_printf(out, "%s%s", name, suffix);
    for (; labels->name != NULL; labels++) {
        if (labels->value == NULL || labels->value[0] == '\0') {
            continue;
        }
        buf_printf(out, "%s%s=\"", any ? "," : "{", labels->name);
        exposition_push_value(out, labels->value);
        buf_push_char(out, '"');
        any = true;
    }
    buf_push_text(out, any ? "} " : " ");
}

void exposition_int(struct buf *out, const char *name, const char *suffix,
                    const struct label *labels, int64_t value)
{
    exposition_push_series(out, name, suffix, labels);
    buf_printf(out, "%" PRId64 "\n", value);
}

void exposition_real(struct buf *out, const char *name, const char *suffix,
                     const struct label *labels, double value)
{
    exposition_push_series(out, name, suffix, labels);
    if (isnan(value)) {
        buf_push_literal(out, "NaN\n");
    } else {
        buf_printf(out, "%.15g\n", value);
    }
}
