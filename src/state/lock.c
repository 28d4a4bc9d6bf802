/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock file: one line of fixed length per pipeline. The holder locks its line's bytes and
 * writes its description there, so that the file is also readable.
 */
#include "rowferry/state/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "database.h"
#include "rowferry/base/clock.h"
#include "rowferry/state/live_progress.h"

#define LINE_BYTES 256

static struct flock lock_line_of(const struct state *s, short type)
{
    return (struct flock){
        .l_type = type,
        .l_whence = SEEK_SET,
        .l_start = (off_t)(s->id - 1) * LINE_BYTES,
        .l_len = LINE_BYTES,
    };
}

static int lock_failed(const struct state *s, struct err *err)
{
    return err_set(err, ERR_STATE, "could not lock \"%s.lock\": %s", s->path, strerror(errno));
}

/* Writes text, padded with blanks, as the pipeline's line. The description is only for people, so a
 * failure to write it is ignored. */
static void lock_write_line(const struct state *s, const char *text)
{
    char line[LINE_BYTES];
    size_t len = strnlen(text, sizeof(line) - 1);
    memset(line, ' ', sizeof(line));
    memcpy(line, text, len);
    line[sizeof(line) - 1] = '\n';
    ssize_t ignored = pwrite(s->lock_fd, line, sizeof(line), lock_line_of(s, F_WRLCK).l_start);
    (void)ignored;
}

static void lock_read_line(const struct state *s, char *out, size_t size)
{
    char line[LINE_BYTES];
    ssize_t got = pread(s->lock_fd, line, sizeof(line), lock_line_of(s, F_RDLCK).l_start);
    size_t len = got > 0 ? (size_t)got : 0;
    while (len > 0 && (unsigned char)line[len - 1] <= ' ') {
        len--;
    }
    snprintf(out, size, "%.*s", (int)len, len > 0 ? line : "");
    if (len == 0) {
        snprintf(out, size, "another process");
    }
}

static void lock_describe_self(char *out, size_t size, const char *command, int64_t wall_us)
{
    char host[65] = "";
    char since[CLOCK_ISO_BYTES];
    if (gethostname(host, sizeof(host) - 1) != 0) {
        snprintf(host, sizeof(host), "unknown");
    }
    snprintf(out, size, "process %ld (\"%.32s\" since %s on host %s)", (long)getpid(), command,
             clock_iso(since, wall_us, 0), host);
}

/* Returns true if a description is that of a `run`, for whose end nobody waits. */
static bool lock_is_run(const char *holder)
{
    return strstr(holder, " (\"run\" since ") != NULL;
}

/* Reports the holder, with the cause if it makes no progress. */
static int lock_refuse(struct state *s, struct err *err)
{
    char holder[LINE_BYTES];
    struct live_progress w;
    struct err ignored;
    bool known = false;
    lock_read_line(s, holder, sizeof(holder));
    bool stalled = live_progress_read(s, &w, &known, &ignored) == 0 && known && w.stall[0] != '\0';
    err_set(err, ERR_HELD, "it is held by %s%s%s", holder,
            stalled ? ", which makes no progress: " : "", stalled ? w.stall_why : "");
    return lock_is_run(holder) ? err_hint(err, "the run does the work, or says why it cannot: "
                                               "rowferry status " ERR_PIPELINE)
                               : err_hint(err, "wait until it ends, or end it");
}

int lock_take(struct state *s, const char *command, int64_t wall_us, struct err *err)
{
    if (s->read_only) {
        return err_set(err, ERR_INTERNAL, "a lock on state file \"%s\" opened for reading",
                       s->path);
    }
    char holder[LINE_BYTES];
    struct flock line = lock_line_of(s, F_WRLCK);
    if (fcntl(s->lock_fd, F_OFD_SETLK, &line) != 0) {
        if (errno != EAGAIN && errno != EACCES) {
            return lock_failed(s, err);
        }
        return lock_refuse(s, err);
    }
    s->locked = true;
    lock_describe_self(holder, sizeof(holder), command, wall_us);
    lock_write_line(s, holder);
    int result = sql_run(s, SQL_PROGRESS_CLEAR, NULL, err);
    /* a dead holder may have taken requests */
    return result == 0 ? sql_run(s, SQL_REQUESTS_REFILE, NULL, err) : result;
}

int lock_look(struct state *s, bool *held, char *holder, size_t size, struct err *err)
{
    *held = s->locked;
    if (!s->locked && s->lock_fd >= 0 && s->id > 0) {
        struct flock line = lock_line_of(s, F_RDLCK);
        if (fcntl(s->lock_fd, F_OFD_GETLK, &line) != 0) {
            return lock_failed(s, err);
        }
        *held = line.l_type != F_UNLCK;
    }
    if (*held) {
        lock_read_line(s, holder, size);
    } else if (size > 0) {
        holder[0] = '\0';
    }
    return 0;
}

void lock_release(struct state *s)
{
    if (s->locked) {
        lock_write_line(s, "");
        s->locked = false;
    }
}
