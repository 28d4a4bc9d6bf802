/* SPDX-License-Identifier: Apache-2.0 */
/* Plants a fault, checks, follows the remedy, checks again. */
#include "lines.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "sql.h"

#define TEXT_BYTES ((size_t)256 * 1024)
#define WORDS 16
#define TOLD_BYTES 6000

/* --- lines -------------------------------------------------------------------------------------
 */

/* Adds the lines of one pipeline's object. */
static void add(struct lines *l, const char *text)
{
    struct json_object *object = json_tokener_parse(text);
    struct json_object *lines = json_object_object_get(object, "lines");
    ck_assert_msg(json_object_is_type(lines, json_type_array), "%s", text);
    for (size_t i = 0; i < json_object_array_length(lines); i++) {
        json_object_array_add(l->tree, json_object_get(json_object_array_get_idx(lines, i)));
    }
    json_object_put(object);
}

void lines_look(struct lines *l, const char *config, const char *option, const char *const *env)
{
    struct program program;
    struct program_result r;
    const char *const argv[] = {getenv("ROWFERRY_PROGRAM"), "check", "--json", option, NULL};
    /* not with -c, which the remedies would repeat */
    ck_assert_int_eq(setenv("ROWFERRY_CONFIG", config, 1), 0);
    program_start(&program, argv, env);
    ck_assert_int_eq(unsetenv("ROWFERRY_CONFIG"), 0);
    program_finish(&program, RUN_MS, &r);
    l->exit_code = r.exit_code;
    l->tree = json_object_new_array();
    ck_assert_msg(r.out[0] != '\0', "%d: %s", r.exit_code, r.err);
    char *rest = NULL;
    for (char *text = strtok_r(r.out, "\n", &rest); text != NULL;
         text = strtok_r(NULL, "\n", &rest)) {
        add(l, text);
    }
    program_result_release(&r);
}

void lines_release(struct lines *l)
{
    json_object_put(l->tree);
}

static const char *member(struct json_object *line, const char *name)
{
    const char *text = json_object_get_string(json_object_object_get(line, name));
    return text != NULL ? text : "";
}

const char *lines_find(const struct lines *l, const char *what, const char *status,
                       const char *words)
{
    for (size_t i = 0; i < json_object_array_length(l->tree); i++) {
        struct json_object *line = json_object_array_get_idx(l->tree, i);
        if (strcmp(member(line, "line"), what) == 0 &&
            strcmp(member(line, "status"), status) == 0 &&
            strstr(member(line, "text"), words) != NULL) {
            return member(line, "remedy");
        }
    }
    return NULL;
}

/* Lists the lines without PASS, short enough for a message; the caller frees it. */
static char *told(const struct lines *l)
{
    struct buf text;
    buf_init(&text, TOLD_BYTES);
    for (size_t i = 0; i < json_object_array_length(l->tree); i++) {
        struct json_object *line = json_object_array_get_idx(l->tree, i);
        if (strcmp(member(line, "status"), "PASS") != 0) {
            buf_printf(&text, "\n%s %s: %.300s -> %.200s", member(line, "status"),
                       member(line, "line"), member(line, "text"), member(line, "remedy"));
        }
    }
    return buf_detach(&text);
}

const char *lines_expect(const struct lines *l, const char *what, const char *status,
                         const char *words)
{
    const char *remedy = lines_find(l, what, status, words);
    char *all = told(l);
    ck_assert_msg(remedy != NULL, "no %s of \"%s\" with \"%s\" in%s", status, what, words, all);
    free(all);
    return remedy;
}

void lines_expect_none(const struct lines *l, const char *what, const char *status,
                       const char *words)
{
    char *all = told(l);
    ck_assert_msg(lines_find(l, what, status, words) == NULL, "%s of \"%s\" with \"%s\" in%s",
                  status, what, words, all);
    free(all);
}

/* --- the world ---------------------------------------------------------------------------------
 */

struct stage {
    struct world w;
    char reader[64]; /* empty: the superuser reads */
    char source[1024];
    bool reads; /* from now on the reader role reads */
};

/* READER in SQL is replaced with the role's name. */
static void run_sql(struct stage *s, const char *sql)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES);
    for (const char *at; (at = strstr(sql, "READER")) != NULL; sql = at + strlen("READER")) {
        buf_push(&text, sql, (size_t)(at - sql));
        buf_push_text(&text, s->reader);
    }
    buf_push_text(&text, sql);
    sql_exec(s->w.conn, "%s", buf_text(&text));
    buf_release(&text);
}

static void configure(struct stage *s, const struct setting *c)
{
    struct world *w = &s->w;
    w->source = s->reads ? s->source : NULL;
    w->to = c->to;
    w->members = c->members;
    if (c->from != NULL) {
        world_from(w, c->from);
    } else {
        world_configure(w, c->properties != NULL ? c->properties : WORLD_PROPERTIES,
                        c->limits != NULL ? c->limits : "\"retry_budget\": \"20s\"");
    }
}

/* Roles belong to the whole server, so each has a unique name. */
static void make_reader(struct stage *s)
{
    struct world *w = &s->w;
    char *secret = scratch_write(w->dir, "reader", "reader");
    snprintf(s->reader, sizeof(s->reader), "reader_%d", (int)getpid());
    char *uri = uri_as(w->uri, s->reader);
    snprintf(s->source, sizeof(s->source), "\"uri\": \"%s\", \"password\": {\"file\": \"%s\"}", uri,
             secret);
    run_sql(s, "drop role if exists READER; create role READER login password 'reader'");
    run_sql(s,
            "grant usage on schema public to READER; grant select on all tables in schema public "
            "to READER");
    free(uri);
    free(secret);
}

static void run_command(struct stage *s, const char *command)
{
    char *words = text_copy(command);
    char *rest = NULL;
    struct program program;
    struct program_result r;
    size_t count = 3;
    const char *argv[3 + WORDS + 1] = {getenv("ROWFERRY_PROGRAM"), "-c", s->w.config};
    for (char *word = strtok_r(words, " ", &rest); word != NULL && count < 3 + WORDS;
         word = strtok_r(NULL, " ", &rest)) {
        if (count > 3 || strcmp(word, "rowferry") != 0) {
            argv[count++] = word;
        }
    }
    program_start(&program, argv, NULL);
    program_finish(&program, RUN_MS, &r);
    program_result_release(&r);
    free(words);
}

static void enter(struct stage *s, const struct planted *p)
{
    const struct setting plain = {0};
    *s = (struct stage){0};
    world_start(&s->w, 50, NULL);
    sql_exec(s->w.conn, "analyze articles");
    if (p->before != NULL) {
        run_sql(s, p->before);
    }
    configure(s, &plain);
    if (p->as_reader) {
        make_reader(s);
    }
    if (!p->bare) {
        rowferry_expect(0, s->w.config, "source", "install", p->as_reader ? "--reader" : NULL,
                        s->reader, NULL);
    }
    s->reads = p->as_reader;
    configure(s, &plain);
    if (p->synced) {
        rowferry_expect(0, s->w.config, "sync", NULL);
    }
}

static void leave(struct stage *s)
{
    if (s->reader[0] != '\0') {
        run_sql(s, "drop owned by READER; drop role READER");
    }
    world_stop(&s->w);
}

static void answer(const struct stage *s, const char *const *faults)
{
    for (size_t i = 0; i < 4 && faults[i] != NULL; i++) {
        world_fault(&s->w, faults[i]);
    }
}

/* --- a fault -----------------------------------------------------------------------------------
 */

static void run_shell(const char *command)
{
    struct program program;
    struct program_result r;
    char *one = text_copy_span(span_make(command, strcspn(command, ";")));
    program_start(&program, (const char *const[]){"/bin/sh", "-c", one, NULL}, NULL);
    program_finish(&program, RUN_MS, &r);
    ck_assert_msg(r.exit_code == 0, "%s: %s", one, r.err);
    program_result_release(&r);
    free(one);
}

static void mend(struct stage *s, const struct planted *p, const char *remedy)
{
    const char *at = strstr(remedy, p->remedy);
    ck_assert_msg(at != NULL, "no \"%s\" in the remedy \"%s\"", p->remedy, remedy);
    if (p->passing) {
        world_unfault(&s->w);
    }
    switch (p->mend) {
    case MEND_SQL:
        run_sql(s, at);
        break;
    case MEND_SQL_ONE: {
        char *one = text_copy_span(span_make(at, strcspn(at, ";")));
        run_sql(s, one);
        free(one);
        break;
    }
    case MEND_SHELL:
        run_shell(at);
        break;
    case MEND_ROWFERRY:
        run_command(s, p->remedy);
        break;
    case MEND_SETTING:
        configure(s, &p->mended);
        break;
    case MEND_SERVICE:
        world_unfault(&s->w);
        answer(s, p->answers);
        break;
    }
}

void planted_try(const struct planted *p)
{
    struct stage s;
    struct lines l;
    enter(&s, p);
    configure(&s, &p->setting);
    if (p->plant != NULL) {
        run_sql(&s, p->plant);
    }
    answer(&s, p->faults);
    if (p->command != NULL) {
        run_command(&s, p->command);
    }
    lines_look(&l, s.w.config, "--accept-admin", NULL);
    mend(&s, p, lines_expect(&l, p->line, p->status, p->words));
    ck_assert_int_eq(l.exit_code, strcmp(p->status, "FAIL") == 0 ? 4 : 0);
    lines_release(&l);
    lines_look(&l, s.w.config, "--accept-admin", NULL);
    lines_expect_none(&l, p->line, p->status, p->words);
    lines_expect(&l, p->line, "PASS", "");
    ck_assert_msg(l.exit_code == 0, "\"%s\" mended: %s", p->words,
                  json_object_to_json_string(l.tree));
    lines_release(&l);
    leave(&s);
}

void planted_try_all(const struct planted *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        planted_try(&table[i]);
    }
}
