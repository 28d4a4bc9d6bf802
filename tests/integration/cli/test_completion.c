/* SPDX-License-Identifier: Apache-2.0 */
/* Shell completion: bash with the printed script, and the words for every shell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"
#include "suite.h"

/* Sets the variables as bash does before it calls the function: the last word is completed. */
static const char driver[] = "program=$1; shift\n"
                             "source <(\"$program\" completion bash) || exit 9\n"
                             "complete -p rowferry >/dev/null || exit 8\n"
                             "COMP_WORDS=(\"$program\" \"$@\") COMP_CWORD=$#\n"
                             "_rowferry\n"
                             "printf '%s\\n' \"${COMPREPLY[@]}\"\n";

#define CONFIG                                                                                     \
    "{\"source\":{\"uri\":\"postgresql://u@db.invalid/x\"},"                                       \
    "\"service\":{\"url\":\"http://127.0.0.1:1\"},\"pipelines\":[" PIPELINE(                       \
        "articles") "," PIPELINE("authors") "," PIPELINE("books") "]}"
#define PIPELINE(name)                                                                             \
    "{\"name\":\"" name "\",\"from\":{\"table\":\"" name "\"},\"to\":{\"index\":\"shop-" name      \
    "\",\"mappings\":{\"properties\":{\"t\":{\"type\":\"text\"}}}}}"

/* words: null-terminated; expected: one line per word. */
static void expect(const char *const *words, const char *expected)
{
    const char *argv[16] = {"/bin/bash", "-c", driver, "bash", getenv("ROWFERRY_PROGRAM")};
    struct program p;
    struct program_result result;
    size_t count = 5;
    while (*words != NULL) {
        argv[count++] = *words++;
    }
    program_start(&p, argv, NULL);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "ended with %d: %s", result.exit_code, result.err);
    ck_assert_str_eq(result.out, expected);
    ck_assert_str_eq(result.err, "");
    program_result_release(&result);
}

#define EXPECT(expected, ...) expect((const char *const[]){__VA_ARGS__, NULL}, expected)

START_TEST(commands_are_completed)
{
    EXPECT("sync\n", "sy");
    EXPECT("resync\nresume\n", "res");
    EXPECT("source\n", "--no-progress", "so");
    EXPECT("install\nupgrade\nuninstall\nprint\n", "source", "");
    EXPECT("uninstall\n", "source", "un");
    EXPECT("bash\nzsh\nfish\n", "completion", "");
    EXPECT("\n", "frobnicate");
}
END_TEST

START_TEST(options_are_those_of_the_command)
{
    EXPECT("--allow-deletes\n--allow-rejections\n", "sync", "--al");
    EXPECT("--allow-deletes\n", "verify", "--al");
    EXPECT("--config\n--no-progress\n--help\n--version\n", "--");
    EXPECT("--yes\n", "deadletter", "discard", "--reason", "--all", "--y");
    EXPECT("\n", "document", "--", "--p");
}
END_TEST

START_TEST(pipelines_come_out_of_the_configuration)
{
    char *dir = scratch_new();
    char *path = scratch_write(dir, "shop.json", CONFIG);
    char joined[512];
    snprintf(joined, sizeof(joined), "--config=%s", path);
    EXPECT("articles\nauthors\nbooks\n", "-c", path, "sync", "");
    EXPECT("articles\nauthors\n", "sync", "--json", "-c", path, "a");
    EXPECT("books\n", joined, "status", "articles", "b");
    EXPECT("authors\n", "-c", path, "resync", "--pipeline", "au");
    EXPECT("authors\n", "-c", path, "resync", "--pipeline", "=", "au");
    EXPECT("articles\nauthors\nbooks\n", "-c", path, "resync", "--pipeline", "=");
    EXPECT("\n", "-c", path, "resync", "5");
    EXPECT("\n", "-c", "/nonexistent/shop.json", "sync", "");
    free(path);
    scratch_remove(dir);
}
END_TEST

START_TEST(files_are_named_where_an_option_takes_one)
{
    char expected[512];
    char *dir = scratch_new();
    char *path = scratch_write(dir, "shop.json", CONFIG);
    snprintf(expected, sizeof(expected), "%s\n", path);
    path[strlen(path) - strlen("op.json")] = '\0';
    EXPECT(expected, "-c", path);
    EXPECT(expected, "sync", "--config", path);
    EXPECT(expected, "sync", "--config", "=", path);
    free(path);
    scratch_remove(dir);
}
END_TEST

/* zsh and fish show the help beside the word, and replace the whole word. */
START_TEST(other_shells_are_told_the_same_words)
{
    struct program_result result;
    char *dir = scratch_new();
    char *path = scratch_write(dir, "shop.json", CONFIG);
    rowferry_run(&result, NULL, "completion", "words", "--", "-c", path, "resync", "--pipeline=au",
                 NULL);
    ck_assert_str_eq(result.out, "--pipeline=authors\tshop-authors\n");
    program_result_release(&result);
    rowferry_run(&result, NULL, "completion", "words", "--", "verify", "--repa", NULL);
    ck_assert_str_eq(result.out, "--repair\tsend the rows that differ, and nothing else\n");
    program_result_release(&result);
    rowferry_run(&result, NULL, "completion", "zsh", NULL);
    ck_assert_ptr_eq(strstr(result.out, "#compdef rowferry\n"), result.out);
    program_result_release(&result);
    rowferry_run(&result, NULL, "completion", "fish", NULL);
    ck_assert_ptr_nonnull(strstr(result.out, "complete -c rowferry"));
    program_result_release(&result);
    rowferry_run(&result, NULL, "completion", "tcsh", NULL);
    ck_assert_int_eq(result.exit_code, 2);
    ck_assert_str_eq(result.err, "rowferry: no completion for \"tcsh\"; there is one for bash, zsh "
                                 "and fish\n");
    program_result_release(&result);
    free(path);
    scratch_remove(dir);
}
END_TEST

SUITE_MAIN("integration/cli/completion", commands_are_completed, options_are_those_of_the_command,
           pipelines_come_out_of_the_configuration, files_are_named_where_an_option_takes_one,
           other_shells_are_told_the_same_words)
