/* SPDX-License-Identifier: Apache-2.0 */
/* Files named by the user: those that end, and those that would never end. */
#include "rowferry/base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "suite.h"

#define PATIENT_MS 60000

static void enter(void)
{
    char directory[] = "/tmp/rowferry-file-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
}

/* Reads the path; the content, or the reason of the failure, must equal `expected`. */
static void expect(const char *path, int64_t timeout_ms, const char *expected)
{
    struct buf out;
    buf_init(&out, 10000);
    const char *reason = file_read(path, timeout_ms, &out, NULL);
    ck_assert_str_eq(reason != NULL ? reason : buf_text(&out), expected);
    ck_assert(!out.failed);
    buf_release(&out);
}

START_TEST(a_directory_or_a_device_is_no_file)
{
    enter();
    expect(".", 0, "Is a directory");
    expect("none", 0, "No such file or directory");
    expect("/dev/zero", 0, "it is not a regular file");
}
END_TEST

START_TEST(a_pipe_that_nobody_writes_is_not_waited_for_without_end)
{
    enter();
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    expect("pipe", 100, "it is a pipe, and its writer did not end in time");
    int writer = open("pipe", O_RDWR);
    ck_assert_int_eq(write(writer, "begun", 5), 5);
    expect("pipe", 100, "it is a pipe, and its writer did not end in time");
    close(writer);
}
END_TEST

/* Tests bash's <(...), and a FIFO whose writer opens it later. */
START_TEST(what_a_pipe_brings_is_read_to_its_end)
{
    enter();
    int ends[2];
    char name[64];
    ck_assert_int_eq(pipe(ends), 0);
    snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
    ck_assert_int_eq(write(ends[1], "text", 4), 4);
    close(ends[1]);
    expect(name, PATIENT_MS, "text");
    ck_assert_int_eq(mkfifo("pipe", 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        _exit(system("exec >pipe; printf one; printf two") == 0 ? 0 : 1);
    }
    expect("pipe", PATIENT_MS, "onetwo");
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(a_file_that_never_ends_is_too_large)
{
    struct buf out;
    struct stat info;
    enter();
    buf_init(&out, 10000);
    ck_assert_int_eq(close(open("sparse", O_WRONLY | O_CREAT, 0600)), 0);
    ck_assert_int_eq(truncate("sparse", INT64_C(1) << 40), 0);
    ck_assert_ptr_null(file_read("sparse", 0, &out, &info));
    ck_assert(out.failed);
    ck_assert_int_eq(info.st_size, INT64_C(1) << 40);
    buf_release(&out);
}
END_TEST

SUITE_MAIN("base/file", a_directory_or_a_device_is_no_file,
           a_pipe_that_nobody_writes_is_not_waited_for_without_end,
           what_a_pipe_brings_is_read_to_its_end, a_file_that_never_ends_is_too_large)
