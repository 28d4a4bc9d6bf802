/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory with a state file, for each test of state. */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/store.h"
#include "suite.h"

struct statefile {
    char directory[64];
    char path[96];
};

static inline struct statefile statefile_make_in(const char *folder)
{
    struct statefile f;
    snprintf(f.directory, sizeof(f.directory), "%s/rowferry-state-XXXXXX", folder);
    ck_assert_ptr_nonnull(mkdtemp(f.directory));
    snprintf(f.path, sizeof(f.path), "%s/state #1?.db", f.directory);
    return f;
}

static inline struct statefile statefile_make(void)
{
    return statefile_make_in("/tmp");
}

/* For a test that opens and commits often and does not need a disk. */
static inline struct statefile statefile_make_in_memory(void)
{
    return statefile_make_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static inline void statefile_remove(const struct statefile *f)
{
    DIR *directory = opendir(f->directory);
    ck_assert_ptr_nonnull(directory);
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        unlinkat(dirfd(directory), entry->d_name, 0);
        unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR);
    }
    closedir(directory);
    rmdir(f->directory);
}

static inline struct state *statefile_open(const struct statefile *f, const char *pipeline)
{
    struct state *s;
    struct err err = {0};
    int result = state_open(&s, f->path, pipeline, &err);
    ck_assert_msg(result == 0, "%s", err.message);
    return s;
}

#define OK(call)                                                                                   \
    do {                                                                                           \
        int ok_result = (call);                                                                    \
        ck_assert_msg(ok_result == 0, "%s", err.message);                                          \
    } while (0)

static inline struct span span_of(const char *text)
{
    return span_make(text, strlen(text));
}

/* Begins a generation; `number` is also part of its name. */
static inline void statefile_begin(struct state *s, int64_t number)
{
    char name[] = "articles-0";
    name[sizeof(name) - 2] = (char)('0' + number);
    struct err err = {0};
    OK(checkpoint_begin_generation(s,
                                   &(struct checkpoint){
                                       .generation = name,
                                       .generation_number = number,
                                       .mapping_fingerprint = name,
                                       .table_fingerprint = name,
                                       .source_identity = name,
                                   },
                                   &err));
}

static inline int statefile_position(struct state *s, const char *position, int64_t wall_us,
                                     struct err *err)
{
    return checkpoint_settle(
        s, &(struct settlement){.position = position, .settled = 1, .wall_us = wall_us}, err);
}

static inline struct settlement statefile_settles(const struct new_letter *letter,
                                                  const char *position)
{
    return (struct settlement){
        .position = position,
        .settled = 3,
        .letters = letter,
        .letter_count = 1,
        .wall_us = 1000,
    };
}

static inline struct new_letter statefile_letter(const char *key, int64_t version)
{
    return (struct new_letter){
        .key = span_of(key),
        .reason = span_of("mapper_parsing_exception: no long"),
        .http_status = 400,
        .version = version,
    };
}

static inline int64_t statefile_letters(struct state *s)
{
    int64_t count = -1;
    struct err err = {0};
    OK(deadletter_count(s, &count, &err));
    return count;
}
