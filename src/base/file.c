/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file without blocking forever on a pipe. */
#include "rowferry/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"

#define PIECE_BYTES 4096

static int64_t file_now_ms(void)
{
    struct clock clock = clock_system();
    return clock_monotonic_us(&clock) / 1000;
}

/* Returns the events that poll reports for the pipe, or 0 at the deadline. A pipe without a writer
 * reads as empty; poll waits for the first writer and reports POLLHUP after the last one closes. */
static short file_wait_for_more(int fd, int64_t deadline_ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    int64_t left_ms = deadline_ms - file_now_ms();
    int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
    return ready < 0 ? POLLIN : wait.revents;
}

static const char *file_read_all(int fd, bool pipe, int64_t timeout_ms, struct buf *out)
{
    size_t before = out->len;
    int64_t deadline_ms = file_now_ms() + timeout_ms;
    while (buf_reserve(out, PIECE_BYTES)) {
        ssize_t got = read(fd, out->data + out->len, PIECE_BYTES);
        bool later = got < 0 && (errno == EAGAIN || errno == EINTR);
        if (got < 0 && !later) {
            return strerror(errno);
        }
        if (got > 0) {
            out->len += (size_t)got;
            out->data[out->len] = '\0';
            continue;
        }
        if (!later && (!pipe || out->len > before)) {
            break;
        }
        short seen = file_wait_for_more(fd, deadline_ms);
        if (seen == 0) {
            return "it is a pipe, and its writer did not end in time";
        }
        if ((seen & POLLIN) == 0) {
            break;
        }
    }
    return NULL;
}

char *file_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL   ? text_copy(".")
           : slash == path ? text_copy("/")
                           : text_copy_span(span_make(path, (size_t)(slash - path)));
}

bool file_write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return true;
}

const char *file_read(const char *path, int64_t timeout_ms, struct buf *out, struct stat *found)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return strerror(errno);
    }
    const char *reason = NULL;
    if (fstat(fd, &info) != 0) {
        reason = strerror(errno);
    } else if (S_ISDIR(info.st_mode)) {
        reason = strerror(EISDIR);
    } else if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode)) {
        reason = "it is not a regular file";
    } else {
        reason = file_read_all(fd, S_ISFIFO(info.st_mode), timeout_ms, out);
    }
    close(fd);
    if (found != NULL && reason == NULL) {
        *found = info;
    }
    return reason;
}
