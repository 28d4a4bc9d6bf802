/* SPDX-License-Identifier: Apache-2.0 */
/* Reloads the configuration while readings are in use. */
#include "rowferry/daemon/settings_reload.h"

#include <stdlib.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

static struct reading *settings_reload_reading_new(const struct config *first,
                                                   struct config *loaded)
{
    struct reading *r = mem_zero(1, sizeof(*r));
    r->config = *first;
    r->config.pipelines = mem_zero(first->pipeline_count, sizeof(*first->pipelines));
    for (size_t i = 0; i < first->pipeline_count; i++) {
        const struct pipeline_config *was = &first->pipelines[i];
        const struct pipeline_config *is =
            loaded != NULL ? config_pipeline(loaded, was->name) : was;
        struct pipeline_config *p = &r->config.pipelines[i];
        *p = *was;
        p->limits = is != NULL ? is->limits : was->limits;
        p->delete_guard = is != NULL ? is->delete_guard : was->delete_guard;
    }
    if (loaded != NULL) {
        secret_borrow_all(&r->config, loaded);
        r->config.log_level = loaded->log_level;
        r->config.log_format = loaded->log_format;
    }
    r->loaded = loaded;
    r->users = 1;
    return r;
}

void settings_reload_init(struct settings_reload *s, const struct config *first)
{
    *s = (struct settings_reload){.first = first, .now = settings_reload_reading_new(first, NULL)};
    pthread_mutex_init(&s->lock, NULL);
}

static void settings_reload_unref(struct reading *r)
{
    if (--r->users == 0) {
        free(r->config.pipelines);
        config_free(r->loaded);
        free(r);
    }
}

void settings_reload_release(struct settings_reload *s)
{
    settings_reload_unref(s->now);
    pthread_mutex_destroy(&s->lock);
}

struct reading *settings_reload_take(struct settings_reload *s)
{
    pthread_mutex_lock(&s->lock);
    struct reading *r = s->now;
    r->users++;
    pthread_mutex_unlock(&s->lock);
    return r;
}

void settings_reload_drop(struct settings_reload *s, struct reading *r)
{
    if (r != NULL) {
        pthread_mutex_lock(&s->lock);
        settings_reload_unref(r);
        pthread_mutex_unlock(&s->lock);
    }
}

static void settings_reload_report_difference(void *context, const char *path, const char *pipeline,
                                              bool live)
{
    (void)context;
    log_event(live ? LOG_INFO : LOG_WARN, live ? "option_changed" : "needs_restart",
              F_TEXT("option", path), F_TEXT("pipeline", pipeline));
}

int settings_reload_read_again(struct settings_reload *s, struct err *err)
{
    struct config *loaded = NULL;
    int rc = config_load(&loaded, s->first->path, err);
    if (rc == 0) {
        secret_keep_all_prompted(loaded, &s->now->config);
        rc = secret_resolve_all(loaded, err);
    }
    if (rc < 0) {
        config_free(loaded);
        return rc;
    }
    log_configure((enum log_level)loaded->log_level, (enum log_format)loaded->log_format);
    config_compare(&s->now->config, loaded, settings_reload_report_difference, NULL);
    struct reading *next = settings_reload_reading_new(s->first, loaded);
    pthread_mutex_lock(&s->lock);
    struct reading *before = s->now;
    s->now = next;
    settings_reload_unref(before);
    pthread_mutex_unlock(&s->lock);
    return 0;
}
