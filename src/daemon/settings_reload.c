/* SPDX-License-Identifier: Apache-2.0 */
/* Reloads the configuration while readings are in use. */
#include "rowferry/daemon/settings_reload.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* Takes everything that a rebuild may change. */
static void settings_reload_take_definition(struct pipeline_config *p,
                                            const struct pipeline_config *is)
{
    p->from.where = is->from.where;
    p->from.query = is->from.query;
    p->from.dependencies = is->from.dependencies;
    p->from.dependency_count = is->from.dependency_count;
    p->to.mappings = is->to.mappings;
    p->to.settings = is->to.settings;
    p->to.ingest_pipeline = is->to.ingest_pipeline;
    p->to.routing = is->to.routing;
    p->to.id = is->to.id;
    p->to.provenance = is->to.provenance;
    p->fields = is->fields;
    p->field_count = is->field_count;
}

static struct reading *settings_reload_reading_new(const struct config *first,
                                                   struct config *loaded, const bool *redefined)
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
        if (is != NULL && redefined[i]) {
            settings_reload_take_definition(p, is);
        }
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
    bool *redefined = mem_zero(first->pipeline_count, sizeof(*redefined));
    *s = (struct settings_reload){.first = first,
                                  .now = settings_reload_reading_new(first, NULL, redefined),
                                  .redefined = redefined};
    s->now->number = 1;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->reloading, NULL);
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
    free(s->redefined);
    pthread_mutex_destroy(&s->reloading);
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

/* Of what the file has and the reading does not take over. */
static void settings_reload_report_restart(void *context, const char *path, const char *pipeline,
                                           bool live)
{
    (void)context;
    if (!live) {
        log_event(LOG_WARN, "needs_restart", F_TEXT("option", path), F_TEXT("pipeline", pipeline));
    }
}

/* Of what differs between two readings. */
static void settings_reload_report_change(void *context, const char *path, const char *pipeline,
                                          bool live)
{
    (void)context;
    (void)live;
    log_event(LOG_INFO, "option_changed", F_TEXT("option", path), F_TEXT("pipeline", pipeline));
}

static int settings_reload_load(const struct settings_reload *s, struct config **loaded,
                                struct err *err)
{
    int rc = config_load(loaded, s->first->path, err);
    if (rc == 0) { /* --accept-admin stays */
        (*loaded)->accept_admin = (*loaded)->accept_admin || s->first->accept_admin;
        secret_keep_all_prompted(*loaded, &s->now->config);
        rc = secret_resolve_all(*loaded, err);
    }
    if (rc < 0) {
        config_free(*loaded);
    }
    return rc;
}

/* Owns `loaded` from now on. */
static void settings_reload_replace(struct settings_reload *s, struct config *loaded)
{
    struct reading *next = settings_reload_reading_new(s->first, loaded, s->redefined);
    log_configure((enum log_level)loaded->log_level, (enum log_format)loaded->log_format);
    config_compare(&next->config, loaded, settings_reload_report_restart, NULL);
    config_compare(&s->now->config, &next->config, settings_reload_report_change, NULL);
    pthread_mutex_lock(&s->lock);
    struct reading *before = s->now;
    next->number = before->number + 1;
    s->now = next;
    settings_reload_unref(before);
    pthread_mutex_unlock(&s->lock);
}

int settings_reload_read_again(struct settings_reload *s, struct err *err)
{
    struct config *loaded = NULL;
    pthread_mutex_lock(&s->reloading);
    int rc = settings_reload_load(s, &loaded, err);
    if (rc == 0) {
        settings_reload_replace(s, loaded);
    }
    pthread_mutex_unlock(&s->reloading);
    return rc;
}

static bool settings_reload_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Returns true if a rebuild can lead from one definition to the other: locks, capture and alias
 * stay the same. */
static bool settings_reload_may_redefine(const struct pipeline_config *was,
                                         const struct pipeline_config *is)
{
    bool same_key = was->from.key_count == is->from.key_count;
    for (size_t i = 0; same_key && i < was->from.key_count; i++) {
        same_key = strcmp(was->from.key[i], is->from.key[i]) == 0;
    }
    return same_key && strcmp(was->from.table, is->from.table) == 0 &&
           was->from.capture_mode == is->from.capture_mode &&
           settings_reload_same_text(was->from.cursor_column, is->from.cursor_column) &&
           strcmp(was->to.index, is->to.index) == 0 && was->to.kind == is->to.kind;
}

int settings_reload_redefine(struct settings_reload *s, const char *pipeline,
                             settings_reload_fits fits, void *context, bool *taken, struct err *err)
{
    struct config *loaded = NULL;
    const struct pipeline_config *was = config_pipeline(s->first, pipeline);
    *taken = false;
    pthread_mutex_lock(&s->reloading);
    int rc = settings_reload_load(s, &loaded, err);
    const struct pipeline_config *is = rc == 0 ? config_pipeline(loaded, pipeline) : NULL;
    *taken = is != NULL && settings_reload_may_redefine(was, is) && fits(context, is);
    if (*taken) {
        s->redefined[was - s->first->pipelines] = true;
        settings_reload_replace(s, loaded);
    } else if (rc == 0) {
        config_free(loaded);
    }
    pthread_mutex_unlock(&s->reloading);
    return rc;
}
