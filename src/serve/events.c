/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of rendered events. */
#include "events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

void events_init(struct events *e, const char *const *pipelines, size_t count)
{
    *e = (struct events){.count = count};
    pthread_mutex_init(&e->lock, NULL);
    e->pipelines = mem_zero(count + 1, sizeof(*e->pipelines));
    for (size_t i = 0; i < count; i++) {
        e->pipelines[i] = text_copy(pipelines[i]);
    }
    e->rings = mem_zero(count + 1, sizeof(*e->rings));
    e->written = mem_zero(count + 1, sizeof(*e->written));
}

void events_release(struct events *e)
{
    for (size_t i = 0; i <= e->count; i++) {
        free(e->pipelines[i]);
        for (size_t j = 0; j < EVENTS_KEPT; j++) {
            free(e->rings[i][j].line);
        }
    }
    free(e->pipelines);
    free(e->rings);
    free(e->written);
    pthread_mutex_destroy(&e->lock);
}

/* Returns null if the event names no pipeline. */
static const char *events_pipeline_of(const struct log_field *fields)
{
    while (fields->name != NULL && strcmp(fields->name, "pipeline") != 0) {
        fields++;
    }
    return fields->name != NULL ? fields->text : NULL;
}

/* Returns the index of the ring; the last one if it is not a known pipeline. */
static size_t events_ring_of(const struct events *e, const char *pipeline)
{
    size_t i = 0;
    while (i < e->count && (pipeline == NULL || strcmp(e->pipelines[i], pipeline) != 0)) {
        i++;
    }
    return i;
}

static void events_keep(struct events *e, size_t ring, char *line)
{
    pthread_mutex_lock(&e->lock);
    struct events_entry *entry = &e->rings[ring][e->written[ring]++ % EVENTS_KEPT];
    free(entry->line);
    *entry = (struct events_entry){++e->number, line};
    pthread_mutex_unlock(&e->lock);
}

void events_add(void *context, enum log_level level, int64_t wall_us, const char *event,
                const struct log_field *fields)
{
    struct events *e = context;
    struct buf line;
    if (level < LOG_INFO || strcmp(event, "progress") == 0) {
        return;
    }
    buf_init(&line, EVENT_BYTES);
    log_render(&line, LOG_JSON, level, wall_us, event, fields);
    if (line.failed) { /* too long: keep the event without its fields */
        const struct log_field cut[] = {
            F_TEXT("pipeline", events_pipeline_of(fields)), F_BOOL("fields_cut", true), {0}};
        buf_reset(&line);
        log_render(&line, LOG_JSON, level, wall_us, event, cut);
    }
    events_keep(e, events_ring_of(e, events_pipeline_of(fields)), buf_detach(&line));
}

void events_push(struct events *e, uint64_t since, struct buf *out)
{
    bool any = false;
    buf_push_char(out, '[');
    pthread_mutex_lock(&e->lock);
    for (size_t i = 0; i <= e->count; i++) {
        for (size_t j = 0; j < EVENTS_KEPT; j++) {
            const struct events_entry *entry = &e->rings[i][(e->written[i] + j) % EVENTS_KEPT];
            if (entry->number > since && entry->line[0] == '{') {
                buf_printf(out, "%s{\"id\":%" PRIu64 ",%s", any ? "," : "", entry->number,
                           entry->line + 1);
                any = true;
            }
        }
    }
    pthread_mutex_unlock(&e->lock);
    buf_push_char(out, ']');
}
