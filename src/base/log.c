/* SPDX-License-Identifier: Apache-2.0 */
/* The log: one write per event. */
#include "rowferry/base/log.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/err.h"
#include "rowferry/base/file.h"
#include "rowferry/base/text.h"

#define LINE_BYTES (64 * 1024)
#define VALUE_BYTES 1024 /* maximum of one text value; the rest is cut */

static struct {
    _Atomic enum log_level least;
    _Atomic enum log_format format;
    _Atomic(const struct log_watcher *) watcher;
    _Atomic(const char *) erase;
} sink = {LOG_INFO, LOG_TEXT, NULL, ""};

static const char *const level_names[] = {"debug", "info", "warn", "error"};

void log_configure(enum log_level least, enum log_format format)
{
    sink.least = least;
    sink.format = format;
}

void log_watch(const struct log_watcher *watcher)
{
    sink.watcher = watcher;
}

void log_erase_with(const char *sequence)
{
    sink.erase = sequence != NULL ? sequence : "";
}

const char *log_erasing(void)
{
    return sink.erase;
}

void log_write(const char *lines, size_t len)
{
    const char *erase = log_erasing();
    struct buf whole;
    buf_init(&whole, strlen(erase) + len + 1);
    buf_push_text(&whole, erase);
    buf_push(&whole, lines, len);
    /* an error of standard error cannot be reported, and must not stop the job */
    (void)file_write_all(STDERR_FILENO, buf_text(&whole), whole.len);
    buf_release(&whole);
}

bool log_enabled(enum log_level level)
{
    return level >= sink.least;
}

/* A value without spaces, quotes and control characters is written bare, any other as a JSON
 * string. */
static bool log_is_bare(struct span value)
{
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.data[i];
        size_t used;
        if (text_hidden(value.data + i, value.len - i, &used) != 0 || c <= 0x20 || c == 0x7f ||
            c == '"' || c == '=' || c == '\\') {
            return false;
        }
    }
    return value.len > 0;
}

static void log_push_text(struct buf *out, enum log_format format, const char *text)
{
    struct buf value;
    buf_init(&value, VALUE_BYTES * 3 + 3);
    size_t len = strlen(text);
    size_t kept = text_cut(text, len, VALUE_BYTES);
    text_valid(&value, text, kept);
    if (kept < len) {
        buf_push_literal(&value, "...");
    }
    struct span clean = span_make(buf_text(&value), value.len);
    if (format == LOG_TEXT && log_is_bare(clean)) {
        buf_push(out, clean.data, clean.len);
    } else {
        text_json(out, clean.data, clean.len);
    }
    buf_release(&value);
}

static void log_push_value(struct buf *out, enum log_format format, const struct log_field *field)
{
    switch (field->type) {
    case LOG_FIELD_TEXT:
        log_push_text(out, format, field->text);
        break;
    case LOG_FIELD_INT:
        buf_printf(out, "%" PRId64, field->integer);
        break;
    case LOG_FIELD_BOOL:
        buf_push_text(out, field->integer != 0 ? "true" : "false");
        break;
    case LOG_FIELD_REAL:
        if (isfinite(field->real)) {
            buf_printf(out, "%.6g", field->real);
        } else {
            buf_push_literal(out, "null");
        }
        break;
    }
}

static void log_push_fields(struct buf *out, enum log_format format, const struct log_field *fields)
{
    for (; fields->name != NULL; fields++) {
        if (fields->type == LOG_FIELD_TEXT && (fields->text == NULL || fields->text[0] == '\0')) {
            continue;
        }
        if (format == LOG_JSON) {
            buf_push_char(out, ',');
            text_json(out, fields->name, strlen(fields->name));
            buf_push_char(out, ':');
        } else {
            buf_printf(out, " %s=", fields->name);
        }
        log_push_value(out, format, fields);
    }
}

void log_render(struct buf *out, enum log_format format, enum log_level level, int64_t wall_us,
                const char *event, const struct log_field *fields)
{
    char time[CLOCK_ISO_BYTES];
    clock_iso(time, wall_us, 3);
    if (format == LOG_JSON) {
        buf_printf(out, "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"", time,
                   level_names[level], event);
    } else {
        buf_printf(out, "%s %s event=%s", time, level_names[level], event);
    }
    log_push_fields(out, format, fields);
    if (format == LOG_JSON) {
        buf_push_char(out, '}');
    }
}

void log_fields(enum log_level level, const char *event, const struct log_field *fields)
{
    if (!log_enabled(level)) {
        return;
    }
    struct clock clock = clock_system();
    int64_t wall_us = clock_wall_us(&clock);
    const struct log_watcher *watcher = sink.watcher;
    struct buf line;
    if (watcher != NULL) {
        watcher->event(watcher->context, level, wall_us, event, fields);
    }
    buf_init(&line, LINE_BYTES);
    log_render(&line, sink.format, level, wall_us, event, fields);
    buf_push_char(&line, '\n');
    if (line.failed) {
        static const struct log_field cut[] = {{"fields_cut", LOG_FIELD_BOOL, NULL, 1, 0}, {0}};
        buf_reset(&line);
        log_render(&line, sink.format, level, wall_us, event, cut);
        buf_push_char(&line, '\n');
    }
    log_write(buf_text(&line), line.len);
    buf_release(&line);
}

void log_err(enum log_level level, const char *event, const char *pipeline, const struct err *e)
{
    struct log_field fields[8] = {
        F_TEXT("pipeline", pipeline),
        F_TEXT("class", err_class_name(e->class)),
        F_TEXT("sqlstate", e->sqlstate[0] != '\0' ? e->sqlstate : NULL),
    };
    size_t n = 3;
    if (e->http_status != 0) {
        fields[n++] = F_INT("http_status", e->http_status);
    }
    if (e->sqlite_code != 0) {
        fields[n++] = F_INT("sqlite_code", e->sqlite_code);
    }
    struct err named = *e;
    if (pipeline != NULL) {
        err_name_pipeline(&named, pipeline);
    }
    fields[n++] = F_TEXT("message", e->message);
    fields[n] = F_TEXT("hint", named.hint[0] != '\0' ? named.hint : NULL);
    log_fields(level, event, fields);
}
