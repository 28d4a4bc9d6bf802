/* SPDX-License-Identifier: Apache-2.0 */
/* Checks owners, modes, links and triggers, which other users might have tampered with. */
#include "trust.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/file.h"

#define PATH_MAX_BYTES 16384
#define GROUPS_MOST 65536
#define USER_BYTES 96
#define STORED "CREATE TRIGGER " /* SQLite begins the stored text of every trigger like this */

static bool trust_is_own_group(gid_t group)
{
    if (group == getegid()) {
        return true;
    }
    int count = getgroups(0, NULL);
    gid_t *groups = mem_zero(count > 0 ? (size_t)count : 1, sizeof(*groups));
    count = count > 0 && count <= GROUPS_MOST ? getgroups(count, groups) : 0;
    bool own = false;
    for (int i = 0; i < count; i++) {
        own = own || groups[i] == group;
    }
    free(groups);
    return own;
}

static bool trust_others_write(const struct stat *at)
{
    return (at->st_mode & S_IWOTH) != 0 ||
           ((at->st_mode & S_IWGRP) != 0 && !trust_is_own_group(at->st_gid));
}

static void trust_describe_user(char out[USER_BYTES], uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    if (user != NULL) {
        snprintf(out, USER_BYTES, "\"%.64s\" (%lu)", user->pw_name, (unsigned long)uid);
    } else {
        snprintf(out, USER_BYTES, "%lu", (unsigned long)uid);
    }
}

static int trust_refuse_owner(const char *path, uid_t owner, struct err *err)
{
    char theirs[USER_BYTES];
    char ours[USER_BYTES];
    trust_describe_user(theirs, owner);
    trust_describe_user(ours, geteuid());
    err_set(err, ERR_STATE, "\"%s\" belongs to user %s, and this process runs as user %s", path,
            theirs, ours);
    return err_hint(err,
                    "run as that user, with sudo -u for example; or set state.path to a file of "
                    "this user's own; or, if no other user has written it: chown %lu \"%s\"",
                    (unsigned long)geteuid(), path);
}

/* `owner` is a second accepted owner besides this process's user. */
static int trust_check_file(const char *path, const struct stat *at, uid_t owner, struct err *err)
{
    if (S_ISLNK(at->st_mode)) {
        err_set(err, ERR_STATE, "\"%s\" is a symbolic link; a state file must be a regular file",
                path);
        return err_hint(err, "remove the link, or set state.path to the file that it leads to");
    }
    if (!S_ISREG(at->st_mode)) {
        err_set(err, ERR_STATE, "could not open state file \"%s\": it is a %s", path,
                S_ISDIR(at->st_mode) ? "directory" : "device or other special file");
        return err_hint(err, "set state.path to a file of its own");
    }
    if (at->st_uid != geteuid() && at->st_uid != owner) {
        return trust_refuse_owner(path, at->st_uid, err);
    }
    if (trust_others_write(at)) {
        err_set(err, ERR_STATE, "\"%s\" can be written by other users: its mode is %04o", path,
                (unsigned)at->st_mode & 07777);
        return err_hint(err, "if no other user has written it: chmod 600 \"%s\"", path);
    }
    return 0;
}

static int trust_check_directory(const char *path, struct err *err)
{
    struct stat at;
    char *directory = file_directory_of(path);
    int result = 0;
    if (stat(directory, &at) == 0 && trust_others_write(&at) && (at.st_mode & S_ISVTX) == 0) {
        err_set(err, ERR_STATE,
                "other users may replace the state file in \"%s\": the directory's mode is %04o",
                directory, (unsigned)at.st_mode & 07777);
        result = err_hint(err, "chmod go-w \"%s\"; or set state.path", directory);
    }
    free(directory);
    return result;
}

int trust_files(const char *path, bool read_only, struct err *err)
{
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm", ".lock"};
    struct buf name;
    struct stat at;
    uid_t owner = geteuid();
    int result = 0;
    buf_init(&name, PATH_MAX_BYTES);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && result == 0; i++) {
        buf_reset(&name);
        buf_printf(&name, "%s%s", path, suffixes[i]);
        if (lstat(buf_text(&name), &at) != 0) {
            continue; /* if lstat fails, open fails too */
        }
        if (i == 0 && read_only && owner == 0) {
            owner = at.st_uid;
        }
        result = trust_check_file(buf_text(&name), &at, owner, err);
    }
    buf_release(&name);
    return result == 0 ? trust_check_directory(path, err) : result;
}

bool trust_is_foreign(const char *path)
{
    struct stat at;
    return lstat(path, &at) == 0 && at.st_uid != geteuid();
}

int trust_lock(int fd, const char *path, bool read_only, struct err *err)
{
    struct stat at;
    bool any = read_only && geteuid() == 0;
    return fstat(fd, &at) == 0 ? trust_check_file(path, &at, any ? at.st_uid : geteuid(), err) : 0;
}

char *trust_path(const char *path)
{
    char *directory = file_directory_of(path);
    char *resolved = realpath(directory, NULL);
    const char *slash = strrchr(path, '/');
    struct buf out;
    buf_init(&out, PATH_MAX_BYTES);
    if (resolved != NULL) {
        buf_printf(&out, "%s/%s", strcmp(resolved, "/") == 0 ? "" : resolved,
                   slash != NULL ? slash + 1 : path);
    } else {
        buf_push_text(&out, path);
    }
    free(resolved);
    free(directory);
    return buf_detach(&out);
}

int trust_connection(sqlite3 *db)
{
    static const struct {
        int option;
        int value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},     {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && code == SQLITE_OK; i++) {
        code = sqlite3_db_config(db, settings[i].option, settings[i].value, NULL);
    }
    return code;
}

static bool trust_is_of_a_migration(const char *trigger)
{
    if (strncmp(trigger, STORED, sizeof(STORED) - 1) != 0) {
        return false;
    }
    for (const struct embedded *m = state_sql; m->name != NULL; m++) {
        if (strstr(m->text, trigger + sizeof(STORED) - 1) != NULL) {
            return true;
        }
    }
    return false;
}

int trust_schema(const struct state *s, struct err *err)
{
    static const char sql[] =
        "select type, name, sql from sqlite_schema where type in ('trigger', 'view')";
    sqlite3_stmt *row = NULL;
    int result = 0;
    int code = sqlite3_prepare_v2(s->db, sql, -1, &row, NULL);
    while (code == SQLITE_OK && result == 0 && (code = sqlite3_step(row)) == SQLITE_ROW) {
        code = SQLITE_OK;
        if (!trust_is_of_a_migration(sql_text(row, 2))) {
            err_set(err, ERR_STATE, "state file \"%s\" has the %s \"%s\", which is not rowferry's",
                    s->path, sql_text(row, 0), sql_text(row, 1));
            result = err_hint(
                err,
                "another user has changed the file: keep it under another name; the next "
                "sync continues from the position that the source keeps, else rebuilds the index");
        }
    }
    if (code != SQLITE_OK && code != SQLITE_DONE) {
        result = database_error(s, err);
    }
    sqlite3_finalize(row);
    return result;
}
