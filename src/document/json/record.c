/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON objects member by member. */
#include "rowferry/document/json/record.h"

#include <inttypes.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"

void record_open(struct buf *out)
{
    buf_push_char(out, '{');
}

void record_close(struct buf *out)
{
    buf_push_char(out, '}');
}

void record_name(struct buf *out, const char *name)
{
    if (out->len > 0 && out->data[out->len - 1] != '{') {
        buf_push_char(out, ',');
    }
    buf_printf(out, "\"%s\":", name);
}

void record_span(struct buf *out, const char *name, const char *text, size_t len)
{
    struct buf valid;
    buf_init(&valid, len * 3 + 1);
    text_valid(&valid, text, len);
    record_name(out, name);
    text_json(out, buf_text(&valid), valid.len);
    buf_release(&valid);
}

void record_text(struct buf *out, const char *name, const char *text)
{
    if (text != NULL) {
        record_span(out, name, text, strlen(text));
    } else {
        record_name(out, name);
        buf_push_literal(out, "null");
    }
}

void record_int(struct buf *out, const char *name, int64_t value)
{
    record_name(out, name);
    buf_printf(out, "%" PRId64, value);
}

void record_known(struct buf *out, const char *name, int64_t value)
{
    if (value >= 0) {
        record_int(out, name, value);
    } else {
        record_text(out, name, NULL);
    }
}

void record_seconds(struct buf *out, const char *name, int64_t ms)
{
    if (ms < 0) {
        record_text(out, name, NULL);
        return;
    }
    record_name(out, name);
    buf_printf(out, "%" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
}

void record_bool(struct buf *out, const char *name, bool value)
{
    record_name(out, name);
    buf_push_text(out, value ? "true" : "false");
}

void record_time(struct buf *out, const char *name, int64_t wall_us)
{
    char iso[CLOCK_ISO_BYTES];
    record_text(out, name, wall_us != 0 ? clock_iso(iso, wall_us, 3) : NULL);
}
