/* SPDX-License-Identifier: Apache-2.0 */
/* check, without a server: the configuration and its secrets. */
#include <string.h>

#include "probes/probe.h"

#define WARNING_REMEDY "; " /* separates a warning from its remedy */

static void probe_local_report_warnings(struct check *c, size_t from)
{
    const struct config *config = c->setup->config;
    for (size_t i = from; i < config->warning_count; i++) {
        const char *text = config->warnings[i];
        const char *remedy = strstr(text, WARNING_REMEDY);
        int len = remedy != NULL ? (int)(remedy - text) : (int)strlen(text);
        check_report(c, VERDICT_WARN, remedy != NULL ? remedy + strlen(WARNING_REMEDY) : NULL,
                     "%.*s", len, text);
    }
}

static void probe_local_configuration(struct check *c)
{
    const struct config *config = c->setup->config;
    check_pass(c, "%s, %zu pipeline%s", config->path, config->pipeline_count,
               config->pipeline_count == 1 ? "" : "s");
    probe_local_report_warnings(c, 0);
    if (config_listens_open(config)) {
        check_report(c, VERDICT_WARN, "listen on 127.0.0.1 and let a proxy ask for a credential",
                     "\"listen\" is \"%s\": any client of it can read metrics and status",
                     config->listen);
    }
}

static void probe_local_secrets(struct check *c)
{
    struct err err;
    size_t told = c->setup->config->warning_count;
    if (secret_resolve_all(c->setup->config, &err) < 0) {
        check_fail_else(
            c, &err,
            err.message[0] == '$'
                ? "set the variable where rowferry is started, or name another place"
                : "put the secret there, readable by this user alone, or name another place");
        return;
    }
    check_pass(c, "everything that the file names can be read");
    probe_local_report_warnings(c, told);
}

const struct probe probes_local[] = {
    {"configuration", 0, 0, probe_local_configuration},
    {"secrets", 0, FACT_SECRETS, probe_local_secrets},
    {0},
};
