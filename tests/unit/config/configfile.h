/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration in a temporary directory, for the tests of config. */
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/config/config.h"
#include "suite.h"

/* Changes to a new directory and clears the environment variables, so that messages name the file
 * "shop.json". */
static inline void configfile_enter(void)
{
    static const char *const names[] = {
        "ROWFERRY_CONFIG", "ROWFERRY_LOG_LEVEL", "ROWFERRY_LOG_FORMAT",
        "ROWFERRY_LISTEN", "STATE_DIRECTORY",    "CREDENTIALS_DIRECTORY",
    };
    char directory[] = "/tmp/rowferry-config-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unsetenv(names[i]);
    }
}

static inline void configfile_leave(void)
{
    char directory[256];
    ck_assert_ptr_nonnull(getcwd(directory, sizeof(directory)));
    ck_assert_int_eq(chdir("/"), 0);
    unlinkat(AT_FDCWD, directory, AT_REMOVEDIR);
}

static inline void configfile_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    fclose(file);
}

/* Loads a text as shop.json. Returns null and fills err if it is refused. */
static inline struct config *configfile_load(const char *text, struct err *err)
{
    struct config *c = NULL;
    *err = (struct err){0};
    configfile_write("shop.json", text);
    int result = config_load(&c, "shop.json", err);
    ck_assert_int_eq(result == 0, c != NULL);
    ck_assert(result == 0 || result == ERR_CONFIG);
    unlink("shop.json");
    return c;
}

#define MAPPINGS "\"mappings\": {\"properties\": {\"title\": {\"type\": \"text\"}}}"
#define SOURCE "\"source\": {\"uri\": \"postgresql://db/shop\"}"
#define SERVICE "\"service\": {\"url\": \"https://search:9200\"}"
#define PIPELINE                                                                                   \
    "{\"name\": \"articles\", \"from\": {\"table\": \"articles\", \"key\": [\"id\"]},"             \
    " \"to\": {\"index\": \"shop-articles\", " MAPPINGS "}}"
#define PIPELINES "\"pipelines\": [" PIPELINE "]"
