/* SPDX-License-Identifier: Apache-2.0 */
/* What check sees without a server: configuration, secrets, the place of the state file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

static void say_warnings(struct check *c, size_t from)
{
    const struct config *config = c->setup->config;
    for (size_t i = from; i < config->warning_count; i++) {
        check_say(c, VERDICT_WARN, NULL, "%s", config->warnings[i]);
    }
}

static void probe_configuration(struct check *c)
{
    const struct config *config = c->setup->config;
    check_say(c, VERDICT_PASS, NULL, "%s, %zu pipeline%s", config->path, config->pipeline_count,
              config->pipeline_count == 1 ? "" : "s");
    say_warnings(c, 0);
    if (config_listens_open(config)) {
        check_say(c, VERDICT_WARN, "listen on 127.0.0.1 and let a proxy ask for a credential",
                  "\"listen\" is \"%s\": whoever reaches it reads metrics and status",
                  config->listen);
    }
}

static void probe_secrets(struct check *c)
{
    struct err err;
    size_t told = c->setup->config->warning_count;
    if (config_resolve_secrets(c->setup->config, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    check_say(c, VERDICT_PASS, NULL, "all that the file names can be read");
    say_warnings(c, told);
}

/* The directory part of a path; the caller frees it. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return text_copy(".");
    }
    return slash == path ? text_copy("/") : text_copy_span(span_make(path, (size_t)(slash - path)));
}

static void probe_state(struct check *c)
{
    const char *path = c->setup->config->state_path;
    char *directory = directory_of(path);
    if (access(directory, W_OK | X_OK) != 0) {
        check_say(c, VERDICT_FAIL,
                  errno == ENOENT ? "create the directory, or set state.path"
                                  : "give this user the right to write there, or set state.path",
                  "directory \"%s\" of the state file: %s", directory, strerror(errno));
    } else if (access(path, F_OK) != 0) {
        check_say(c, VERDICT_PASS, NULL, "%s, will be created", path);
    } else if (access(path, R_OK | W_OK) != 0) {
        check_say(c, VERDICT_FAIL, "run as the user who owns it", "\"%s\": %s", path,
                  strerror(errno));
    } else {
        struct state *state = NULL;
        struct err err;
        if (state_open_read_only(&state, path, c->setup->pipelines[0]->name, &err) < 0) {
            check_fail(c, &err);
        } else {
            check_say(c, VERDICT_PASS, NULL, "%s", path);
        }
        state_close(state);
    }
    free(directory);
}

const struct probe probes_local[] = {
    {"configuration", 0, 0, probe_configuration},
    {"secrets", 0, FACT_SECRETS, probe_secrets},
    {"state file", 0, 0, probe_state},
    {0},
};
