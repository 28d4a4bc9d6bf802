/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory with a configuration and a state file, for a unit test. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/log.h"
#include "rowferry/config/config.h"
#include "rowferry/state/request.h"
#include "rowferry/state/store.h"
#include "suite.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        int ok_result = (call);                                                                    \
        ck_assert_msg(ok_result == 0, "%s", err.message);                                          \
    } while (0)

struct workplace {
    char directory[64];
    char path[96]; /* of the configuration */
    struct config *config;
};

/* Writes the configuration. `top` and `pipeline` are members for the top level and the pipeline
 * "articles", each with a comma at its end, or "". */
static inline void workplace_write(const struct workplace *w, const char *top, const char *pipeline)
{
    FILE *file = fopen(w->path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "{%s \"source\": {\"uri\": \"postgresql://db/shop\"},"
            " \"service\": {\"url\": \"http://127.0.0.1:9200\"},"
            " \"state\": {\"path\": \"%s/state.db\"},"
            " \"pipelines\": [{%s \"name\": \"articles\","
            " \"from\": {\"table\": \"articles\", \"key\": [\"id\"]},"
            " \"to\": {\"index\": \"shop-articles\","
            " \"mappings\": {\"properties\": {\"title\": {\"type\": \"text\"}}}}}]}\n",
            top, w->directory, pipeline);
    fclose(file);
}

static inline struct workplace workplace_make(const char *top, const char *pipeline)
{
    static const char *const names[] = {"ROWFERRY_CONFIG", "ROWFERRY_LOG_LEVEL",
                                        "ROWFERRY_LOG_FORMAT", "ROWFERRY_LISTEN"};
    struct workplace w = {0};
    struct err err;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unsetenv(names[i]);
    }
    snprintf(w.directory, sizeof(w.directory), "%s/rowferry-daemon-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(w.directory));
    snprintf(w.path, sizeof(w.path), "%s/shop.json", w.directory);
    workplace_write(&w, top, pipeline);
    OK(config_load(&w.config, w.path, &err));
    return w;
}

static inline void workplace_remove(struct workplace *w)
{
    DIR *directory = opendir(w->directory);
    ck_assert_ptr_nonnull(directory);
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    closedir(directory);
    rmdir(w->directory);
    config_free(w->config);
}

static inline struct state *workplace_state(const struct workplace *w)
{
    struct err err;
    struct state *s = NULL;
    OK(state_open(&s, w->config->state_path, "articles", &err));
    return s;
}

/* Files a request and takes it, as a holder does. Returns its id. */
static inline int64_t workplace_taken(struct state *s, const char *command, const char *arguments)
{
    struct err err;
    struct buf unused[2];
    int64_t filed;
    int64_t taken;
    buf_init(&unused[0], 1024);
    buf_init(&unused[1], 1024);
    OK(request_file(s, command, arguments, 1, &filed, &err));
    OK(request_take(s, 0, &taken, &unused[0], &unused[1], &err));
    ck_assert_int_eq(taken, filed);
    buf_release(&unused[0]);
    buf_release(&unused[1]);
    return taken;
}

/* Expects this state of a request, and this text in its reply. */
static inline void workplace_expect(struct state *s, int64_t id, enum request_state expected,
                                    const char *part)
{
    struct err err;
    struct buf answer;
    enum request_state state = REQUEST_TAKEN;
    buf_init(&answer, 65536);
    OK(request_look(s, id, &state, &answer, &err));
    ck_assert_int_eq(state, expected);
    ck_assert_msg(strstr(buf_text(&answer), part) != NULL, "%s is not in %s", part,
                  buf_text(&answer));
    buf_release(&answer);
}

/* --- the log ---------------------------------------------------------------------------------- */

/* Collects the events of the log as " NAME  NAME ...". */
struct events {
    char names[4096];
    struct log_watcher watcher;
};

static inline void events_add(void *context, enum log_level level, int64_t wall_us,
                              const char *event, const struct log_field *fields)
{
    struct events *e = context;
    size_t len = strlen(e->names);
    (void)level;
    (void)wall_us;
    (void)fields;
    snprintf(e->names + len, sizeof(e->names) - len, " %s ", event);
}

/* Begins to collect; log_watch(NULL) ends it. */
static inline void events_watch(struct events *e)
{
    e->watcher = (struct log_watcher){events_add, e};
    log_watch(&e->watcher);
}
