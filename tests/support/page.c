/* SPDX-License-Identifier: Apache-2.0 */
/* A page of the manual, and its reader. */
#include "page.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "sql.h"

#define PAGE_MAX_BYTES ((size_t)1024 * 1024)
#define COMMENT "<!-- test: "

/* --- pages -------------------------------------------------------------------------------------
 */

static char *read_all(const char *path)
{
    char *text = mem_zero(PAGE_MAX_BYTES, 1);
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    size_t len = fread(text, 1, PAGE_MAX_BYTES - 1, file);
    fclose(file);
    ck_assert_msg(len < PAGE_MAX_BYTES - 1, "%s is too long", path);
    return text;
}

/* Returns the line at *at, ended by a NUL, and steps behind it. */
static char *next_line(char **at)
{
    char *line = *at;
    char *end = strchr(line, '\n');
    *at = end != NULL ? end + 1 : line + strlen(line);
    if (end != NULL) {
        *end = '\0';
    }
    return line;
}

/* Reads the block behind its fence; *at becomes the position behind the closing fence. */
static void take_block(struct page *p, char *fence, char **at, int *line)
{
    ck_assert_msg(p->count < PAGE_BLOCKS_MOST, "%s has more blocks than that", p->path);
    struct page_block *block = &p->blocks[p->count++];
    char *end = strncmp(*at, "```", 3) == 0 ? *at : strstr(*at, "\n```");
    ck_assert_msg(end != NULL, "%s:%d: the block has no end", p->path, *line);
    end += *end == '\n' ? 1 : 0;
    block->language = fence + 3;
    block->text = text_copy_span(span_make(*at, (size_t)(end - *at)));
    block->line = *line;
    for (char *c = *at; c < end; c++) {
        *line += *c == '\n' ? 1 : 0;
    }
    *at = end;
    next_line(at);
    (*line)++;
}

void page_read(struct page *p, const char *path)
{
    *p = (struct page){.path = path, .text = read_all(path)};
    p->cut = text_copy(p->text);
    const char *heading = "";
    const char *tests = NULL;
    int line = 0;
    for (char *at = p->cut; *at != '\0';) {
        char *this = next_line(&at);
        line++;
        if (strncmp(this, COMMENT, strlen(COMMENT)) == 0) {
            tests = tests != NULL ? tests : this;
            continue;
        }
        if (strncmp(this, "```", 3) == 0) {
            take_block(p, this, &at, &line);
            p->blocks[p->count - 1].heading = heading;
            p->blocks[p->count - 1].tests = tests != NULL ? tests : "";
        } else if (this[0] == '#') {
            heading = this + strspn(this, "# ");
        }
        tests = NULL;
    }
}

void page_release(struct page *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->blocks[i].text);
    }
    free(p->text);
    free(p->cut);
}

/* Comments are consecutive lines, each ended by a NUL. */
char *page_told(const struct page_block *block, const char *words)
{
    for (const char *at = block->tests; strncmp(at, COMMENT, strlen(COMMENT)) == 0;
         at += strlen(at) + 1) {
        const char *said = at + strlen(COMMENT);
        if (strncmp(said, words, strlen(words)) == 0) {
            said += strlen(words);
            const char *end = strstr(said, " -->");
            ck_assert_ptr_nonnull(end);
            return text_copy_span(span_make(said, (size_t)(end - said)));
        }
    }
    return NULL;
}

char *page_command(char **at)
{
    while (**at == '\n' || **at == '#') {
        next_line(at);
    }
    if (**at == '\0') {
        return NULL;
    }
    char *begin = *at;
    char *end = strchr(begin, '\n');
    while (end > begin && end[-1] == '\\') {
        end = strchr(end + 1, '\n');
    }
    *at = end + 1;
    return text_copy_span(span_make(begin, (size_t)(end - begin)));
}

/* --- readers -----------------------------------------------------------------------------------
 */

static char *setting(const char *name, const char *value)
{
    char *text = NULL;
    ck_assert_int_ge(asprintf(&text, "%s=%s", name, value), 0);
    return text;
}

void reader_enter(struct reader *r, const struct world *w, const char *folder)
{
    *r = (struct reader){.folder = folder};
    r->role = sql_text(w->conn, "select 'reader_' || current_database()");
    sql_exec(w->conn,
             "create role \"%1$s\" login password '" READER_PASSWORD "';"
             "do $$ begin execute format('grant create on database %%I to \"%1$s\"',"
             " current_database()); end $$;"
             "alter table articles owner to \"%1$s\"; analyze articles",
             r->role);
    r->uri = uri_as(w->uri, r->role);
    r->settings[0] = setting("DATABASE_URL", r->uri);
    r->settings[1] = setting("SEARCH_URL", w->service.url);
    r->settings[2] = setting("ADMIN_URL", w->uri);
    r->settings[3] = text_copy("PGPASSWORD=" READER_PASSWORD);
    r->settings[4] = text_copy("ROWFERRY_API_KEY=" WORLD_API_KEY);
}

void reader_leave(struct reader *r)
{
    for (size_t i = 0; r->settings[i] != NULL; i++) {
        free(r->settings[i]);
    }
    free(r->role);
    free(r->uri);
}

static void start(const struct reader *r, const char *how, const char *command, struct program *p)
{
    char script[256];
    snprintf(script, sizeof(script),
             "cd \"$1\" && PATH=$(dirname \"$ROWFERRY_PROGRAM\"):$PATH && eval \"%s$2\"", how);
    const char *const argv[] = {"/bin/bash", "-c", script, "bash", r->folder, command, NULL};
    program_start(p, argv, (const char *const *)r->settings);
}

static void finish(const char *command, struct program *p, struct program_result *result)
{
    program_finish(p, RUN_MS, result);
    ck_assert_msg(strstr(result->out, READER_PASSWORD) == NULL &&
                      strstr(result->err, READER_PASSWORD) == NULL,
                  "the password stands in the output of: %s", command);
}

void reader_run(const struct reader *r, const char *command, struct program_result *result)
{
    struct program p;
    start(r, "", command, &p);
    finish(command, &p, result);
}

void reader_run_until(const struct reader *r, const char *command, const char *text,
                      struct program_result *result)
{
    struct program p;
    start(r, "exec ", command, &p);
    program_await(&p, text, WAIT_MS);
    program_signal(&p, SIGTERM);
    finish(command, &p, result);
}
