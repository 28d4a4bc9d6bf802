/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the configuration and selects pipelines. */
#include "setup.h"

#include <stdlib.h>
#include <string.h>

#include "output/advice.h"
#include "rowferry/base/log.h"
#include "rowferry/base/text.h"

static int setup_unknown_pipeline(const struct config *c, const char *name, struct err *err)
{
    const char **names = mem_zero(c->pipeline_count + 1, sizeof(*names));
    for (size_t i = 0; i < c->pipeline_count; i++) {
        names[i] = c->pipelines[i].name;
    }
    const char *nearest = text_nearest(name, names);
    if (nearest == NULL && c->pipeline_count == 1) {
        nearest = names[0];
    }
    if (nearest != NULL) {
        err_set(err, ERR_CONFIG, "no pipeline \"%s\" in \"%s\"; did you mean \"%s\"?", name,
                c->path, nearest);
    } else {
        err_set(err, ERR_CONFIG, "no pipeline \"%s\" in \"%s\"", name, c->path);
    }
    free(names);
    return ERR_CONFIG;
}

static bool setup_is_named(const char *pipeline, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], pipeline) == 0) {
            return true;
        }
    }
    return count == 0;
}

static int setup_pick_pipelines(struct setup *s, const char *const *names, size_t count,
                                struct err *err)
{
    const struct config *c = s->config;
    for (size_t i = 0; i < count; i++) {
        if (config_pipeline(c, names[i]) == NULL) {
            return setup_unknown_pipeline(c, names[i], err);
        }
    }
    s->pipelines = mem_zero(c->pipeline_count, sizeof(const struct pipeline_config *));
    for (size_t i = 0; i < c->pipeline_count; i++) {
        if (setup_is_named(c->pipelines[i].name, names, count)) {
            s->pipelines[s->count++] = &c->pipelines[i];
        }
    }
    return 0;
}

static bool setup_is_command(const char *text)
{
    size_t len = strcspn(text, " ,;.:\"'`)\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (!c->unconfigured && strcspn(c->name, " ") == len && strncmp(c->name, text, len) == 0) {
            return true;
        }
    }
    return false;
}

static int setup_load_named(struct setup *out, const struct arguments *a, const char *const *names,
                            size_t count, struct err *err)
{
    *out = (struct setup){0};
    advice_use_config(a->values[OPTION_CONFIG], setup_is_command);
    int rc = config_load(&out->config, a->values[OPTION_CONFIG], err);
    if (rc < 0) {
        return rc;
    }
    out->config->accept_admin = out->config->accept_admin || arguments_have(a, OPTION_ACCEPT_ADMIN);
    bool quiet = arguments_have(a, OPTION_QUIET) && out->config->log_level < LOG_WARN;
    log_configure(quiet ? LOG_WARN : (enum log_level)out->config->log_level,
                  (enum log_format)out->config->log_format);
    return setup_pick_pipelines(out, names, count, err);
}

int setup_load(struct setup *out, const struct arguments *a, struct err *err)
{
    return setup_load_named(out, a, a->operands, a->operand_count, err);
}

int setup_load_one(struct setup *out, const struct arguments *a, struct err *err)
{
    const char *name = a->values[OPTION_PIPELINE];
    int rc = setup_load_named(out, a, &name, name != NULL ? 1 : 0, err);
    if (rc == 0 && out->count > 1) {
        rc = err_set(err, ERR_CONFIG, "\"%s\" has several pipelines; name one: --pipeline %s",
                     out->config->path, out->pipelines[0]->name);
    }
    return rc;
}

int setup_secrets(struct setup *s, struct err *err)
{
    int rc = secret_resolve_all(s->config, err);
    for (size_t i = 0; i < s->config->warning_count; i++) {
        log_event(LOG_WARN, "configuration", F_TEXT("message", s->config->warnings[i]));
    }
    return rc;
}

void setup_release(struct setup *s)
{
    free(s->pipelines);
    config_free(s->config);
}
