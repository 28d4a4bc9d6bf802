/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: one line per event on stderr, as text or as JSON from the same fields.
 *
 *     log_event(LOG_INFO, "batch_settled", F_TEXT("pipeline", name), F_INT("done", 4981));
 *     2026-11-21T10:00:00.123Z info event=batch_settled pipeline=articles done=4981
 *
 * Only commands and the engine log. Level info has one line per lifecycle change and one per
 * interval, never one per row. The log contains no documents, no reasons that quote one, and no
 * secrets. Thread-safe: each line is one write(2). Besides the signal flag, the log's settings are
 * the program's only mutable global state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

struct log_field {
    const char *name; /* null ends the list */
    enum { LOG_FIELD_TEXT, LOG_FIELD_INT, LOG_FIELD_REAL, LOG_FIELD_BOOL } type;
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
#define F_BOOL(name, value)                                                                        \
    (struct log_field)                                                                             \
    {                                                                                              \
        (name), LOG_FIELD_BOOL, NULL, (value) ? 1 : 0, 0                                           \
    }
#define F_REAL(name, value)                                                                        \
    (struct log_field)                                                                             \
    {                                                                                              \
        (name), LOG_FIELD_REAL, NULL, 0, (value)                                                   \
    }

/* Sets the lowest level that is logged, and the format. May be called while other threads log. */
void log_configure(enum log_level least, enum log_format format);

bool log_enabled(enum log_level level);

/* Logs one event. fields ends with a null name; an empty text field (or null) is left out. A value
 * over 1 KiB is cut; invalid UTF-8 bytes become U+FFFD. */
void log_fields(enum log_level level, const char *event, const struct log_field *fields);

#define log_event(level, event, ...)                                                               \
    log_fields((level), (event), (const struct log_field[]){__VA_ARGS__, {0}})
#define log_plain(level, event) log_fields((level), (event), (const struct log_field[]){{0}})

/* A callback that receives each event besides stderr, in the thread that logs. It must be fast and
 * must not hold a lock for long. */
struct log_watcher {
    void (*event)(void *context, enum log_level level, int64_t wall_us, const char *event,
                  const struct log_field *fields);
    void *context;
};

/* Sets the watcher, or removes it if null; there is one at a time. A thread that is logging may
 * still call a removed watcher. Free it only when no other thread logs any more. */
void log_watch(const struct log_watcher *watcher);

/* Sets the sequence that erases what is drawn at the cursor of the terminal; null: nothing is. It
 * precedes whatever is printed meanwhile, in the same write. */
void log_erase_with(const char *sequence);
/* Returns that sequence, "" if none. May be called by a signal handler. */
const char *log_erasing(void);

/* Writes whole lines to stderr at once, as an event's line is. */
void log_write(const char *lines, size_t len);

/* Logs an error as an event: class, status, SQLSTATE and message, but never the detail. */
void log_err(enum log_level level, const char *event, const char *pipeline, const struct err *e);

/* Renders a line without the newline. Pure. */
void log_render(struct buf *out, enum log_format format, enum log_level level, int64_t wall_us,
                const char *event, const struct log_field *fields);
