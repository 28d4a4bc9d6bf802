/* SPDX-License-Identifier: Apache-2.0 */
/* check: the state file. Its place, its permissions and its contents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probes/probe.h"
#include "rowferry/base/file.h"
#include "rowferry/base/units.h"
#include "rowferry/engine/observe/stall.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/history.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/lock.h"
#include "rowferry/state/pause.h"
#include "rowferry/state/rebuild.h"

/* --- place ------------------------------------------------------------------------------------ */

/* File systems (statfs(2)) whose locks depend on another machine or do not work. */
static const struct remote {
    unsigned long kind;
    const char *name;
} remotes[] = {
    {0x6969, "NFS"},        {0x517B, "SMB"},       {0xFF534D42, "CIFS"}, {0xFE534D42, "SMB"},
    {0x00C36400, "Ceph"},   {0x01021997, "9P"},    {0x5346414F, "AFS"},  {0x47504653, "GPFS"},
    {0x0BD00BD0, "Lustre"}, {0x7461636F, "OCFS2"},
};

/* Returns null for any other file system or on error. */
static const char *probe_state_remote_name(const char *directory)
{
    struct statfs fs;
    if (statfs(directory, &fs) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(remotes) / sizeof(remotes[0]); i++) {
        if (((unsigned long)fs.f_type & 0xFFFFFFFFUL) == remotes[i].kind) {
            return remotes[i].name;
        }
    }
    return NULL;
}

/* Returns false after it has reported why. */
static bool probe_state_place_serves(struct check *c, const char *directory)
{
    const char *remote = probe_state_remote_name(directory);
    if (access(directory, W_OK | X_OK) != 0) {
        bool absent = errno == ENOENT;
        check_report(c, VERDICT_FAIL, NULL, "directory \"%s\" of the state file: %s", directory,
                     strerror(errno));
        if (absent) {
            check_remedy(c, "mkdir -p -m 700 \"%s\"; or set state.path", directory);
        } else {
            check_remedy(c, "give this user the right to write there, or set state.path");
        }
        return false;
    }
    if (remote != NULL) {
        check_report(c, VERDICT_FAIL, "set state.path to a disk of this machine",
                     "\"%s\" is on %s, where locks are not reliable", directory, remote);
        return false;
    }
    return true;
}

static bool probe_state_file_serves(struct check *c, const char *path)
{
    struct err err;
    struct state *state = NULL;
    if (access(path, R_OK | W_OK) != 0 && errno != ENOENT) {
        check_report(c, VERDICT_FAIL, "run as the user who owns it", "\"%s\": %s", path,
                     strerror(errno));
        return false;
    }
    if (state_open_read_only(&state, path, c->setup->pipelines[0]->name, &err) < 0) {
        check_fail(c, &err);
        return false;
    }
    state_close(state);
    return true;
}

/* The file contains keys and reasons, and replacing it changes the documents that are sent. */
static void probe_state_report_modes(struct check *c, const char *directory, const char *path)
{
    struct stat at;
    if (stat(path, &at) == 0 && (at.st_mode & 077) != 0) {
        check_report(c, VERDICT_WARN, NULL, "users other than its owner may open \"%s\"", path);
        check_remedy(c, "chmod 600 \"%s\"", path);
    }
    if (stat(directory, &at) == 0 && (at.st_mode & 022) != 0 && (at.st_mode & S_ISVTX) == 0) {
        check_report(c, VERDICT_WARN, NULL,
                     "users other than its owner may replace files in \"%s\"", directory);
        check_remedy(c, "chmod go-w \"%s\"", directory);
    }
}

static void probe_state_place(struct check *c)
{
    const char *path = c->setup->config->state_path;
    char *directory = file_directory_of(path);
    bool there = access(path, F_OK) == 0;
    if (probe_state_place_serves(c, directory) && probe_state_file_serves(c, path)) {
        check_pass(c, "%s%s", path, there ? "" : ", will be created");
        probe_state_report_modes(c, directory, path);
    }
    free(directory);
}

/* --- contents --------------------------------------------------------------------------------- */

static int probe_state_report_halt(struct check *c, struct state *state, struct err *err)
{
    bool halted;
    struct guard_stop halt;
    char few[UNITS_BYTES];
    char many[UNITS_BYTES];
    const char *name = c->pipeline->name;
    int rc = guard_stop_read(state, &halt, &halted, err);
    if (rc < 0 || !halted) {
        return rc;
    }
    if (halt.rejected > 0) {
        check_report(
            c, VERDICT_FAIL, NULL, "the guard stopped it: %s of %s documents were refused, %s",
            units_count(few, halt.rejected), units_count(many, halt.operations), halt.reason);
        check_remedy(c,
                     "correct mapping or rows and run: rowferry sync %s; if they are as intended: "
                     "rowferry sync --allow-rejections %s",
                     name, name);
    } else {
        check_report(c, VERDICT_FAIL, NULL, "the guard stopped it: %s deletes were counted",
                     units_count(few, halt.deletes));
        check_remedy(c,
                     "restore the rows and run: rowferry sync %s; if the deletes are intended: "
                     "rowferry sync --allow-deletes %s",
                     name, name);
    }
    return 0;
}

static int probe_state_report_pause(struct check *c, struct state *state, struct err *err)
{
    int64_t since_us;
    char when[CLOCK_ISO_BYTES];
    int rc = pause_read(state, &since_us, err);
    if (rc == 0 && since_us != 0) {
        check_report(c, VERDICT_WARN, NULL, "it is paused since %s", clock_iso(when, since_us, 0));
        check_remedy(c, "rowferry resume %s", c->pipeline->name);
    }
    return rc;
}

static int probe_state_report_rebuild(struct check *c, struct state *state, struct err *err)
{
    bool underway;
    struct rebuild rebuild;
    char when[CLOCK_ISO_BYTES];
    int rc = rebuild_look(state, &rebuild, &underway, err);
    if (rc == 0 && underway) {
        bool back = rebuild.kind == REBUILD_BACK;
        check_report(c, VERDICT_WARN, NULL, "a %s that began %s has not ended",
                     back ? "rollback" : "rebuild", clock_iso(when, rebuild.begun_us, 0));
        check_remedy(
            c, "continue it: rowferry reindex%s %s; or cancel it: rowferry reindex --abort %s",
            back ? " --rollback" : "", c->pipeline->name, c->pipeline->name);
    }
    return rc;
}

static int probe_state_report_letters(struct check *c, struct state *state, struct err *err)
{
    int64_t count;
    char many[UNITS_BYTES];
    int rc = deadletter_count(state, &count, err);
    if (rc == 0 && count > 0) {
        check_report(c, VERDICT_WARN, NULL, "%s dead letter%s open", units_count(many, count),
                     count == 1 ? " is" : "s are");
        check_remedy(
            c,
            "\"rowferry deadletter list %s\" shows why: correct the rows, then: rowferry sync %s",
            c->pipeline->name, c->pipeline->name);
    }
    return rc;
}

/* Reports why the holder makes no progress. Guard stops are reported by their record. */
static int probe_state_report_stall(struct check *c, struct state *state, bool *held,
                                    struct err *err)
{
    char holder[256];
    char when[CLOCK_ISO_BYTES];
    struct live_progress work;
    bool working = false;
    int rc = lock_look(state, held, holder, sizeof(holder), err);
    rc = rc == 0 ? live_progress_read(state, &work, &working, err) : rc;
    if (rc < 0 || !*held || !working || work.stall[0] == '\0' ||
        strcmp(work.stall, stall_name(STALL_GUARD)) == 0) {
        return rc;
    }
    struct buf remedy;
    buf_init(&remedy, 1024);
    stall_push_remedy(&remedy, &work, c->pipeline->name);
    check_report(c, VERDICT_FAIL, remedy.len > 0 ? buf_text(&remedy) : NULL,
                 "%s makes no progress since %s: %s", holder, clock_iso(when, work.stall_us, 0),
                 work.stall_why);
    buf_release(&remedy);
    return 0;
}

/* The cause may be gone since, so this is no FAIL: a script may sync only if check finds none. */
static int probe_state_report_last_run(struct check *c, struct state *state, struct err *err)
{
    struct run run;
    size_t count;
    char when[CLOCK_ISO_BYTES];
    int rc = history_last(state, &run, 1, &count, err);
    if (rc == 0 && count > 0 && run.message[0] != '\0' && run.exit_code != EXIT_DONE) {
        check_report(c, VERDICT_WARN, NULL, "the last %s, of %s, %s with exit code %d: %s",
                     run.command, clock_iso(when, run.started_us, 0),
                     run.ended_us != 0 ? "ended" : "was killed after it had stopped", run.exit_code,
                     run.message);
        check_remedy(c, "once that is corrected: rowferry sync %s", c->pipeline->name);
    }
    return rc;
}

static int probe_state_report_work(struct check *c, struct state *state, struct err *err)
{
    bool held = false;
    int rc = probe_state_report_stall(c, state, &held, err);
    return rc < 0 || held ? rc : probe_state_report_last_run(c, state, err);
}

static void probe_state_standing(struct check *c)
{
    struct err err;
    struct state *state = NULL;
    size_t before = c->count;
    int rc = state_open_read_only(&state, c->setup->config->state_path, c->pipeline->name, &err);
    if (rc < 0) {
        return; /* reported for the file itself */
    }
    rc = state == NULL ? 0 : probe_state_report_halt(c, state, &err);
    rc =
        rc < 0 || state == NULL || c->count > before ? rc : probe_state_report_work(c, state, &err);
    rc = rc < 0 || state == NULL ? rc : probe_state_report_pause(c, state, &err);
    rc = rc < 0 || state == NULL ? rc : probe_state_report_rebuild(c, state, &err);
    rc = rc < 0 || state == NULL ? rc : probe_state_report_letters(c, state, &err);
    if (rc < 0) {
        check_fail(c, &err);
    } else if (c->count == before) {
        check_pass(c, "no error, guard stop, pause, unfinished rebuild or open dead letter");
    }
    state_close(state);
}

static int probe_state_report_validation(struct check *c, struct state *state, struct err *err)
{
    bool known = false;
    bool live;
    struct validation last = {0};
    struct checkpoint checkpoint = {0};
    char when[CLOCK_ISO_BYTES];
    char definition[VALIDATION_DEFINITION_BYTES];
    const struct pipeline_config *p = c->pipeline;
    int rc = probe_live_read(c, &checkpoint, &live, err);
    checkpoint_release(&checkpoint);
    rc = rc == 0 && state != NULL ? validation_read(state, &last, &known, err) : rc;
    if (rc < 0) {
        return rc;
    }
    session_hash_definition(p, definition);
    bool same = known && strcmp(last.definition, definition) == 0;
    if (same && last.passed) {
        check_pass(c, "validate passed for this definition on %s",
                   clock_iso(when, last.ended_us, 0));
        return 0;
    }
    check_report(c,
                 p->validate.required && !live  ? VERDICT_FAIL
                 : p->validate.required || same ? VERDICT_WARN
                                                : VERDICT_INFO,
                 NULL, "%s%s",
                 same    ? "validate failed for this definition"
                 : known ? "the definition has changed since validate tried it"
                         : "validate has never tried this definition",
                 p->validate.required ? ", and \"validate.required\" is true" : "");
    check_remedy(c, "rowferry validate %s", p->name);
    return 0;
}

static void probe_state_validation(struct check *c)
{
    struct err err;
    struct state *state = NULL;
    if (state_open_read_only(&state, c->setup->config->state_path, c->pipeline->name, &err) == 0 &&
        probe_state_report_validation(c, state, &err) < 0) {
        check_fail(c, &err);
    }
    state_close(state);
}

const struct probe probes_state[] = {
    {"state file", 0, 0, probe_state_place},
    {0},
};

const struct probe probes_standing[] = {
    {"standing", 0, 0, probe_state_standing},
    {"validation", 0, 0, probe_state_validation},
    {0},
};
