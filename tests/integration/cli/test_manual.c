/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manual is correct. The commands in its pages and README are run, page by page, in separate
 * worlds. Commands that cannot run here are checked for existing options and commands.
 * Configuration examples are loaded.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "links.h"
#include "mentions.h"
#include "page.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/service/cluster/privilege.h"
#include "suite.h"

#define ROWS 500
#define HERE(p, b) (p)->path + strlen(TEST_TOP) + 1, (b)->line

static glob_t pages;

/* --- commands -------------------------------------------------------------------------------- */

/* Programs and paths that a test machine lacks: a block with one of them is only checked. */
static const struct {
    const char *words, *why;
} elsewhere[] = {
    {"systemctl ", "systemd"},
    {"journalctl ", "systemd"},
    {"kubectl ", "a cluster"},
    {"docker ", "containers"},
    {"podman ", "containers"},
    {"apt-get ", "the machine's packages"},
    {"apt ", "the machine's packages"},
    {"dpkg ", "the machine's packages"},
    {"sudo ", "another account"},
    {"cmake ", "a build"},
    {"cpack ", "a build"},
    {"deploy/", "a run of its own: tests/deploy, tests/bench"},
    {"tests/", "a run of its own"},
    {"/etc/", "the machine's files"},
    {"/usr/", "the machine's files"},
    {"/var/lib/", "the machine's files"},
};

/* Commands that run until stopped, and their output once they work. */
static const struct {
    const char *words, *said;
} lasting[] = {
    {"rowferry run", "event=service_found"},
    {"rowferry status --watch", "articles"},
    {"devsearch", "listening on"},
};

static bool is_elsewhere(const char *commands)
{
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        if (strstr(commands, elsewhere[i].words) != NULL) {
            return true;
        }
    }
    return false;
}

static const char *awaited_of(const char *command)
{
    for (size_t i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++) {
        if (strncmp(command, lasting[i].words, strlen(lasting[i].words)) == 0) {
            return lasting[i].said;
        }
    }
    return NULL;
}

static void run(const struct page *page, const struct page_block *block, const struct reader *r,
                const char *command, int exit_code)
{
    struct program_result result;
    const char *awaited = awaited_of(command);
    if (awaited != NULL) {
        reader_run_until(r, command, awaited, &result);
    } else {
        reader_run(r, command, &result);
    }
    ck_assert_msg(result.exit_code == exit_code, "%s:%d: ended with %d: %s\n%s%s",
                  HERE(page, block), result.exit_code, command, result.out, result.err);
    program_result_release(&result);
}

static void run_commands(const struct page *page, const struct page_block *block,
                         const struct reader *r)
{
    char *ends = page_told(block, "ends with ");
    int exit_code = ends != NULL ? (int)strtol(ends, NULL, 10) : 0;
    char *command = NULL;
    for (char *at = block->text; (command = page_command(&at)) != NULL;) {
        run(page, block, r, command, exit_code);
        free(command);
    }
    free(ends);
}

/* Runs commands shown with their output. The output itself is not compared, because it varies. */
static void run_shown(const struct page *page, const struct page_block *block,
                      const struct reader *r)
{
    char *command = NULL;
    for (char *at = block->text; (command = page_command(&at)) != NULL;) {
        if (strncmp(command, "$ ", 2) == 0) {
            run(page, block, r, command + 2, 0);
        }
        free(command);
    }
}

/* Runs statements that the database administrator pastes. */
static void run_sql(const struct page *page, const struct page_block *block, const struct reader *r)
{
    char *path = scratch_write(r->folder, "pasted.sql", block->text);
    run(page, block, r, "psql -qX -v ON_ERROR_STOP=1 -f pasted.sql \"$ADMIN_URL\" >/dev/null", 0);
    free(path);
}

static void run_block(const struct page *page, const struct page_block *block,
                      const struct reader *r)
{
    bool sql = strcmp(block->language, "sql") == 0;
    char *not_here = page_told(block, "not here, ");
    char *after = page_told(block, "after ");
    if (after != NULL) {
        run(page, block, r, after, 0);
    }
    if (not_here == NULL && sql) {
        run_sql(page, block, r);
    } else if (not_here == NULL && block->language[0] == '\0') {
        run_shown(page, block, r);
    } else if (not_here == NULL && strcmp(block->language, "sh") == 0 &&
               !is_elsewhere(block->text)) {
        run_commands(page, block, r);
    }
    free(not_here);
    free(after);
}

/* --- environments ---------------------------------------------------------------------------- */

/* Pages that begin without a configuration. */
static const char *const from_nothing[] = {
    "/README.md",
    "/docs/getting-started.md",
};

static bool begins_with_nothing(const char *path)
{
    for (size_t i = 0; i < sizeof(from_nothing) / sizeof(from_nothing[0]); i++) {
        if (strcmp(path + strlen(TEST_TOP), from_nothing[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Prepares rowferry.json and a copy, shop.json, with the change log and the index. */
static void prepare(struct world *w, const struct reader *r)
{
    char *source = NULL;
    ck_assert_int_ge(asprintf(&source, "\"uri\": \"%s\"", r->uri), 0);
    w->source = source;
    world_configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"");
    struct program_result result;
    reader_run(r, "cp rowferry.json shop.json && rowferry source install && rowferry sync",
               &result);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    program_result_release(&result);
    w->source = NULL;
    free(source);
}

static void follow(const struct page *page)
{
    struct world w;
    struct reader r;
    world_start(&w, ROWS, NULL);
    char *empty = scratch_new();
    bool nothing = begins_with_nothing(page->path);
    reader_enter(&r, &w, nothing ? empty : w.dir);
    if (!nothing) {
        prepare(&w, &r);
    }
    for (size_t i = 0; i < page->count; i++) {
        run_block(page, &page->blocks[i], &r);
    }
    reader_leave(&r);
    scratch_remove(empty);
    world_stop(&w);
}

static bool has_something_to_type(const struct page *page)
{
    bool found = false;
    for (size_t i = 0; i < page->count && !found; i++) {
        const char *language = page->blocks[i].language;
        found = strcmp(language, "sh") == 0 || strcmp(language, "sql") == 0 ||
                strstr(page->blocks[i].text, "$ ") != NULL;
    }
    return found;
}

START_TEST(what_a_page_has_people_type_works)
{
    struct page page;
    page_read(&page, pages.gl_pathv[_i]);
    if (has_something_to_type(&page)) {
        follow(&page);
    }
    page_release(&page);
}
END_TEST

/* --- text that is only checked --------------------------------------------------------------- */

/* Checks the languages of blocks: a block in any other language would not be tested at all. */
static void expect_languages(const struct page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        static const char known[] = " sh sql json jsonc yaml ini ";
        char word[32];
        const char *language = page->blocks[i].language;
        snprintf(word, sizeof(word), " %s ", language);
        ck_assert_msg(language[0] == '\0' || strstr(known, word) != NULL,
                      "%s:%d: a block of \"%s\": one of%s", HERE(page, &page->blocks[i]), language,
                      known);
    }
}

START_TEST(what_a_page_mentions_is_there)
{
    struct page page;
    page_read(&page, pages.gl_pathv[_i]);
    expect_languages(&page);
    mentions_expect(page.path + strlen(TEST_TOP) + 1, page.text);
    page_release(&page);
}
END_TEST

START_TEST(the_links_of_a_page_lead_somewhere)
{
    struct page page;
    page_read(&page, pages.gl_pathv[_i]);
    char *fault = links_fault(page.path, page.text);
    ck_assert_msg(fault == NULL, "%s: %s", page.path + strlen(TEST_TOP) + 1, fault);
    page_release(&page);
}
END_TEST

START_TEST(what_a_page_configures_is_loaded)
{
    struct page page;
    char *dir = scratch_new();
    page_read(&page, pages.gl_pathv[_i]);
    for (size_t i = 0; i < page.count; i++) {
        const struct page_block *block = &page.blocks[i];
        char *not_here = page_told(block, "not here, ");
        if (not_here == NULL && strncmp(block->language, "json", 4) == 0) {
            char *error = mentions_load(dir, block->text);
            ck_assert_msg(error == NULL, "%s:%d: %s", HERE(&page, block), error);
        }
        free(not_here);
    }
    page_release(&page);
    scratch_remove(dir);
}
END_TEST

/* --- rights ------------------------------------------------------------------------------------
 */

static void expect_grant(const struct page *page, enum product product, bool key)
{
    struct buf grant;
    buf_init(&grant, 4096);
    privilege_push_grant(&grant, product, key, "shop-articles");
    ck_assert_msg(strstr(page->text, buf_text(&grant)) != NULL, "docs/rights.md has no: %s",
                  buf_text(&grant));
    buf_release(&grant);
}

/* Checks each printed line that grants something. */
static void expect_grants(const struct page *page, char *printed)
{
    size_t count = 0;
    for (char *line = strtok(printed, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, "grant ", 6) == 0) {
            ck_assert_msg(strstr(page->text, line) != NULL, "docs/rights.md has no: %s", line);
            count++;
        }
    }
    ck_assert_uint_ge(count, 6);
}

START_TEST(the_rights_are_those_that_the_program_prints)
{
    struct world w;
    struct page page;
    struct program_result printed;
    world_start(&w, 1, NULL);
    page_read(&page, TEST_TOP "/docs/rights.md");
    expect_grant(&page, PRODUCT_OPENSEARCH, false);
    expect_grant(&page, PRODUCT_ELASTICSEARCH, false);
    expect_grant(&page, PRODUCT_ELASTICSEARCH, true);
    rowferry_run(&printed, w.config, "source", "print", "--reader", "rowferry", NULL);
    expect_grants(&page, printed.out);
    program_result_release(&printed);
    page_release(&page);
    world_stop(&w);
}
END_TEST

/* --- detection of mistakes ------------------------------------------------------------------- */

/* Expects that a mistake is detected in a page's text. */
static void expect_fault(const char *text, const char *named)
{
    char *fault = mentions_fault(text);
    ck_assert_msg(fault != NULL, "nothing is found in: %s", text);
    ck_assert_msg(strstr(fault, named) != NULL, "no \"%s\" in: %s", named, fault);
    free(fault);
}

START_TEST(a_misspelt_option_command_or_key_is_found)
{
    expect_fault("run `rowferry sync --alow-deletes articles`", "--alow-deletes");
    expect_fault("it is `sync --alow-deletes`, or", "--alow-deletes");
    expect_fault("give `--alow-deletes`.", "--alow-deletes");
    expect_fault("```sh\nrowferry synk   # why\n```\n", "synk");
    expect_fault("```sh\nkubectl exec x -- rowferry -c \\\n  a.json reindx\n```\n", "reindx");
    expect_fault("```\n$ rowferry status --jsn\n```\n", "--jsn");
    expect_fault("so:\n\n    rowferry sync --alow-deletes\n", "--alow-deletes");
    ck_assert_ptr_null(
        mentions_fault("`rowferry sync --allow-deletes [PIPELINE...]` and `--json`"));
    char *dir = scratch_new();
    char *error = mentions_load(dir, "\"from\": { \"table\": \"t\", \"wehre\": \"a > 1\" }");
    ck_assert_msg(error != NULL && strstr(error, "from.wehre") != NULL, "%s", error);
    free(error);
    error = mentions_load(dir, "{ \"listn\": \"127.0.0.1:1\" }");
    ck_assert_msg(error != NULL && strstr(error, "listn") != NULL, "%s", error);
    free(error);
    scratch_remove(dir);
}
END_TEST

START_TEST(a_link_that_leads_nowhere_is_found)
{
    static const char path[] = TEST_TOP "/docs/check.md";
    char *fault = links_fault(path, "see [it](chek.md)");
    ck_assert_str_eq(fault, "no file: chek.md");
    free(fault);
    fault = links_fault(path, "[it](check.md#privileges), [that](check.md#privilege)");
    ck_assert_str_eq(fault, "no heading: check.md#privilege");
    free(fault);
}
END_TEST

/* --- all pages ---------------------------------------------------------------------------------
 */

static struct cluster server;

static void start_server(void)
{
    cluster_start(&server, NULL);
    cluster_use(&server);
}

static void stop_server(void)
{
    cluster_stop(&server);
}

static void add(Suite *suite, const TTest *test, size_t count)
{
    TCase *tcase = tcase_create(test->name);
    tcase_set_timeout(tcase, SUITE_TEST_S);
    if (test->fn == what_a_page_has_people_type_works->fn) {
        tcase_add_unchecked_fixture(tcase, start_server, stop_server);
    }
    tcase_add_loop_test(tcase, test, 0, (int)count);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    if (system("(psql --version && curl --version && jq --version) >/dev/null 2>&1") != 0) {
        puts("skip: psql, curl and jq are not all here");
        return 77;
    }
    if (glob(TEST_TOP "/docs/*.md", 0, NULL, &pages) != 0 ||
        glob(TEST_TOP "/README.md", GLOB_APPEND, NULL, &pages) != 0 ||
        glob(TEST_TOP "/SECURITY.md", GLOB_APPEND, NULL, &pages) != 0) {
        return EXIT_FAILURE;
    }
    Suite *suite = suite_create("integration/cli/manual");
    add(suite, a_misspelt_option_command_or_key_is_found, 1);
    add(suite, the_rights_are_those_that_the_program_prints, 1);
    add(suite, a_link_that_leads_nowhere_is_found, 1);
    add(suite, the_links_of_a_page_lead_somewhere, pages.gl_pathc);
    add(suite, what_a_page_mentions_is_there, pages.gl_pathc);
    add(suite, what_a_page_configures_is_loaded, pages.gl_pathc);
    add(suite, what_a_page_has_people_type_works, pages.gl_pathc);
    int result = suite_end(suite);
    globfree(&pages);
    return result;
}
