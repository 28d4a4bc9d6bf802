/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets: read from the configured origin, only on request, never in a message. */
#include "secret.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "configfile.h"

#define S3CRET "tr0ub4dor"

/* Long enough for a command, even if the machine is suspended for a while. */
#define PATIENT_MS 60000

/* Reads a secret; on failure err.message must equal `expected`. */
static void expect_within(int64_t most_ms, enum secret_origin origin, const char *place, int result,
                          const char *expected)
{
    struct err err = {0};
    char *warning;
    struct secret s = {.origin = origin, .place = text_copy(place)};
    int got = secret_read(&s, "source.password", most_ms, &warning, &err);
    ck_assert_msg(got == result, "%d: %s", got, err.message);
    ck_assert_str_eq(result == 0 ? s.value : err.message, expected);
    free(warning);
    free(s.value);
    free(s.place);
}

static void expect(enum secret_origin origin, const char *place, int result, const char *expected)
{
    expect_within(PATIENT_MS, origin, place, result, expected);
}

START_TEST(a_variable_is_read_or_named)
{
    configfile_enter();
    setenv("ROWFERRY_TEST_SECRET", S3CRET, 1);
    unsetenv("ROWFERRY_TEST_NONE");
    expect(SECRET_ENV, "ROWFERRY_TEST_SECRET", 0, S3CRET);
    expect(SECRET_ENV, "ROWFERRY_TEST_NONE", ERR_CONFIG,
           "$ROWFERRY_TEST_NONE of \"source.password\" is not set");
    setenv("ROWFERRY_TEST_SECRET", "", 1);
    expect(SECRET_ENV, "ROWFERRY_TEST_SECRET", ERR_CONFIG,
           "the secret of \"source.password\" is empty");
    configfile_leave();
}
END_TEST

START_TEST(a_file_loses_its_last_newline_and_nothing_else)
{
    configfile_enter();
    configfile_write("secret", " " S3CRET " \r\n");
    expect(SECRET_FILE, "secret", 0, " " S3CRET " ");
    configfile_write("secret", S3CRET "\nX-Header: 1\n");
    expect(SECRET_FILE, "secret", ERR_CONFIG,
           "the secret of \"source.password\" is more than one line, or has a control character");
    unlink("secret");
    expect(SECRET_FILE, "secret", ERR_CONFIG,
           "cannot read the file \"secret\" of \"source.password\": No such file or directory");
    expect(SECRET_FILE, ".", ERR_CONFIG,
           "cannot read the file \".\" of \"source.password\": Is a directory");
    configfile_leave();
}
END_TEST

START_TEST(a_credential_is_a_file_that_systemd_gives)
{
    configfile_enter();
    expect(SECRET_CREDENTIAL, "pg", ERR_CONFIG,
           "the credential \"pg\" of \"source.password\": $CREDENTIALS_DIRECTORY is not set");
    setenv("CREDENTIALS_DIRECTORY", ".", 1);
    configfile_write("pg", S3CRET);
    expect(SECRET_CREDENTIAL, "pg", 0, S3CRET);
    unlink("pg");
    configfile_leave();
}
END_TEST

START_TEST(a_command_gives_its_first_line_within_its_time)
{
    configfile_enter();
    expect(SECRET_COMMAND, "printf 'tr0ub''4dor\\nmore\\n'", 0, S3CRET);
    expect(SECRET_COMMAND, "echo " S3CRET "; exit 3", ERR_REJECTED,
           "the command of \"source.password\" ended with 3");
    expect(SECRET_COMMAND, "true", ERR_CONFIG, "the secret of \"source.password\" is empty");
    expect(SECRET_COMMAND, "kill -9 $$", ERR_REJECTED,
           "the command of \"source.password\" ended with 137");
    expect(SECRET_COMMAND, "exec cat /dev/zero", ERR_REJECTED,
           "cannot run the command of \"source.password\": File too large");
    expect_within(2000, SECRET_COMMAND, "echo " S3CRET "; exec sleep 600", ERR_TRANSIENT,
                  "the command of \"source.password\" did not end within 2 s");
    configfile_leave();
}
END_TEST

START_TEST(a_command_that_closes_its_output_and_sleeps_is_not_waited_for_without_end)
{
    configfile_enter();
    expect_within(1000, SECRET_COMMAND, "exec >&-; exec sleep 600", ERR_TRANSIENT,
                  "the command of \"source.password\" did not end within 1 s");
    configfile_leave();
}
END_TEST

/* The child's end of the pipe stays open for longer than the test may take. */
START_TEST(a_background_child_that_holds_the_pipe_does_not_delay_the_secret)
{
    configfile_enter();
    expect(SECRET_COMMAND, "sleep 600 & echo $! >child; echo " S3CRET, 0, S3CRET);
    ck_assert_int_eq(system("kill $(cat child)"), 0);
    unlink("child");
    configfile_leave();
}
END_TEST

/* The lock becomes free when all processes that inherited it have ended. */
START_TEST(what_a_command_started_ends_with_it_when_its_time_is_over)
{
    configfile_enter();
    int fd = open("held", O_RDWR | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    expect_within(1000, SECRET_COMMAND,
                  "exec 9<held; flock 9; (trap '' TERM; sleep 600 & sleep 600) & sleep 600",
                  ERR_TRANSIENT, "the command of \"source.password\" did not end within 1 s");
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    close(fd);
    unlink("held");
    configfile_leave();
}
END_TEST

/* Runs the prompt in a child without a terminal, to test its error. */
START_TEST(a_prompt_without_a_terminal_says_so)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct err err = {0};
        char *value = NULL;
        setsid();
        int result = secret_from_prompt("", "source.password", &value, &err);
        _exit(result == ERR_CONFIG && strstr(err.message, "there is none") != NULL ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* The other side of the terminal: types the secret, then reads all output. */
static void type_secret(int master, struct buf *shown)
{
    char part[256];
    bool typed = false;
    for (;;) {
        ssize_t got = read(master, part, sizeof(part));
        if (got <= 0) {
            return;
        }
        buf_push(shown, part, (size_t)got);
        if (!typed && strstr(buf_text(shown), "Password of the shop: ") != NULL) {
            typed = true;
            ck_assert_int_eq(write(master, S3CRET "\n", sizeof(S3CRET)), sizeof(S3CRET));
        }
    }
}

START_TEST(a_prompt_takes_what_is_typed_and_does_not_show_it)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert_int_ge(master, 0);
    ck_assert_int_eq(grantpt(master), 0);
    ck_assert_int_eq(unlockpt(master), 0);
    char name[64];
    snprintf(name, sizeof(name), "%s", ptsname(master));
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct err err = {0};
        char *value = NULL;
        close(master);
        setsid();
        if (open(name, O_RDWR) < 0) { /* becomes the controlling terminal of the new session */
            _exit(2);
        }
        int result = secret_from_prompt("Password of the shop", "source.password", &value, &err);
        _exit(result == 0 && strcmp(value, S3CRET) == 0 ? 0 : 1);
    }
    struct buf shown;
    buf_init(&shown, 4096);
    type_secret(master, &shown);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_ptr_null(strstr(buf_text(&shown), S3CRET));
    buf_release(&shown);
    close(master);
}
END_TEST

START_TEST(secrets_are_read_when_asked_and_readable_files_are_warned_of)
{
    configfile_enter();
    struct err err;
    setenv("ROWFERRY_TEST_SECRET", "user-" S3CRET, 1);
    struct config *c = configfile_load(
        "{\"source\": {\"uri\": \"postgresql://h/d\", \"password\": {\"file\": \"secret\"}},"
        "\"service\": {\"url\": \"https://h\", \"auth\": {\"user\": \"u\", \"password\": {\"env\": "
        "\"ROWFERRY_TEST_SECRET\"}}}," PIPELINES "}",
        &err);
    ck_assert_msg(c != NULL, "%s", err.message);
    ck_assert_int_eq(secret_resolve_all(c, &err), ERR_CONFIG);
    configfile_write("secret", S3CRET "\n");
    ck_assert_int_eq(chmod("secret", 0640), 0);
    ck_assert_int_eq(secret_resolve_all(c, &err), 0);
    ck_assert_int_eq(secret_resolve_all(c, &err), 0);
    ck_assert_uint_eq(c->warning_count, 1);
    ck_assert_str_eq(c->warnings[0], "the file \"secret\" of \"source.password\" can be read by "
                                     "others; chmod 600 \"secret\"");
    struct source_options source;
    struct service_options service;
    config_source_options(c, "rowferry", &source);
    config_service_options(c, &c->pipelines[0], &service);
    ck_assert_str_eq(source.password, S3CRET);
    ck_assert_str_eq(service.user, "u");
    ck_assert_str_eq(service.credentials[SERVICE_PASSWORD].value, "user-" S3CRET);
    ck_assert_ptr_null(service.credentials[SERVICE_API_KEY].value);
    config_free(c);
    unlink("secret");
    configfile_leave();
}
END_TEST

SUITE_MAIN("config/secret", a_variable_is_read_or_named,
           a_file_loses_its_last_newline_and_nothing_else,
           a_credential_is_a_file_that_systemd_gives,
           a_command_gives_its_first_line_within_its_time,
           a_command_that_closes_its_output_and_sleeps_is_not_waited_for_without_end,
           a_background_child_that_holds_the_pipe_does_not_delay_the_secret,
           what_a_command_started_ends_with_it_when_its_time_is_over,
           a_prompt_without_a_terminal_says_so, a_prompt_takes_what_is_typed_and_does_not_show_it,
           secrets_are_read_when_asked_and_readable_files_are_warned_of)
