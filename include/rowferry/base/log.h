/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line an event on stderr, as text or JSON from the same fields.
 *
 *     log_event(LOG_INFO, "batch_settled", F_TEXT("pipeline", name), F_INT("done", 4981));
 *     2026-11-21T10:00:00.123Z info event=batch_settled pipeline=articles done=4981
 *
 * Only commands and the engine log. Info is one line for each change of lifecycle and one for each
 * interval, never one a row. No document, no reason that quotes one, no secret. Thread-safe: a
 * line is one write(2). The sink is the program's one piece of mutable global state beside the
 * signal flag.
 */
#ifndef ROWFERRY_BASE_LOG_H
#define ROWFERRY_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_field {
    const char *name; /* null ends the list */
    enum { LOG_FIELD_TEXT, LOG_FIELD_INT, LOG_FIELD_REAL } type;
    const char *text;
    int64_t integer;
    double real;
};

#define F_TEXT(name, value)                                                                        \
    (struct log_field)                                                                             \
    {                                                                                              \
        (name), LOG_FIELD_TEXT, (value), 0, 0                                                      \
    }
#define F_INT(name, value)                                                                         \
    (struct log_field)                                                                             \
    {                                                                                              \
        (name), LOG_FIELD_INT, NULL, (int64_t)(value), 0                                           \
    }
#define F_REAL(name, value)                                                                        \
    (struct log_field)                                                                             \
    {                                                                                              \
        (name), LOG_FIELD_REAL, NULL, 0, (value)                                                   \
    }

/* May be called again while other threads log. */
void log_configure(enum log_level least, enum log_format format);

bool log_enabled(enum log_level level);

/* One event. fields: null-name terminated; a text field whose value is null is left out. A value
 * over 1 KiB is cut; bytes that are not UTF-8 become U+FFFD. */
void log_fields(enum log_level level, const char *event, const struct log_field *fields);

#define log_event(level, event, ...)                                                               \
    log_fields((level), (event), (const struct log_field[]){__VA_ARGS__, {0}})
#define log_plain(level, event) log_fields((level), (event), (const struct log_field[]){{0}})

/* Who sees the events beside stderr, as they are logged, in the thread that logs: to be quick and
 * to take no lock of its own for long. */
struct log_watcher {
    void (*event)(void *context, enum log_level level, int64_t wall_us, const char *event,
                  const struct log_field *fields);
    void *context;
};

/* One at a time, null for none; it is called until a while after it was taken away: no other thread
 * logs any more when it is freed. */
void log_watch(const struct log_watcher *watcher);

/* An error as an event: class, status, SQLSTATE and message; never the detail. */
void log_err(enum log_level level, const char *event, const char *pipeline, const struct err *e);

/* The pure part: renders a line without the newline. */
void log_render(struct buf *out, enum log_format format, enum log_level level, int64_t wall_us,
                const char *event, const struct log_field *fields);

#endif
