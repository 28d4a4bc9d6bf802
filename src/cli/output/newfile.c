/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a temporary file in the same directory, then renames or links it into place. */
#include "output/newfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rowferry/base/file.h"
#include "rowferry/base/text.h"

#define NAME_BYTES 64 /* room for the suffix of the temporary name */

static int newfile_is_there(const char *path, struct err *err)
{
    err_set(err, ERR_CONFIG, "\"%s\" already exists", path);
    return err_hint(err, "name another file with -o, or replace it with --force");
}

static int newfile_cannot_create(const char *path, struct err *err)
{
    return err_set(err, ERR_CONFIG, "cannot create \"%s\": %s", path, strerror(errno));
}

/* Refuses to replace anything but a regular file: a link, a pipe or a device stays. */
static int newfile_check_replaced(const char *path, struct err *err)
{
    struct stat there;
    if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        err_set(err, ERR_CONFIG, "\"%s\" is not a regular file, and is not replaced", path);
        return err_hint(err, "name another file");
    }
    return 0;
}

int newfile_check(const char *path, bool replace, struct err *err)
{
    if (!replace && access(path, F_OK) == 0) {
        return newfile_is_there(path, err);
    }
    int rc = newfile_check_replaced(path, err);
    if (rc < 0) {
        return rc;
    }
    const char *slash = strrchr(path, '/'); /* kept, so that only a directory is accessed */
    char *folder = slash != NULL ? text_copy_span(span_make(path, (size_t)(slash - path) + 1))
                                 : text_copy(".");
    rc = access(folder, W_OK | X_OK) == 0 ? 0 : newfile_cannot_create(path, err);
    free(folder);
    return rc;
}

/* A link fails if the name exists by now, so it cannot replace a file of another process. */
static int newfile_put_in_place(const char *made, const char *path, bool replace, struct err *err)
{
    int rc = replace ? newfile_check_replaced(path, err) : 0;
    if (rc < 0) {
        return rc;
    }
    if (replace ? rename(made, path) == 0 : link(made, path) == 0) {
        return 0;
    }
    return errno == EEXIST ? newfile_is_there(path, err) : newfile_cannot_create(path, err);
}

int newfile_save(const char *path, bool replace, const struct buf *text, struct err *err)
{
    struct buf made;
    buf_init(&made, PATH_MAX + NAME_BYTES);
    buf_printf(&made, "%s.%ld.new", path, (long)getpid());
    int fd = open(buf_text(&made), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    int rc = fd >= 0 ? 0 : newfile_cannot_create(path, err);
    if (rc == 0 && (!file_write_all(fd, buf_text(text), text->len) || fsync(fd) != 0)) {
        rc = err_set(err, ERR_TRANSIENT, "could not write \"%s\": %s", path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    if (rc == 0) {
        rc = newfile_put_in_place(buf_text(&made), path, replace, err);
    }
    if (fd >= 0) {
        unlink(buf_text(&made)); /* fails harmlessly if it was renamed */
    }
    buf_release(&made);
    return rc;
}
