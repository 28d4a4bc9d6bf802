/* SPDX-License-Identifier: Apache-2.0 */
/* Parses files of pairs line by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

#define SQL_BYTES 65536

struct reader {
    struct pg *pg;
    const char *name;
    int line;
    int pairs;
    pair_visit visit;
    void *context;
    struct buf *skipped;
};

/* Cuts the text at " | " and returns the part behind it. */
static char *cut(const struct reader *r, char *text)
{
    char *bar = strstr(text, " | ");
    if (bar == NULL) {
        fprintf(stderr, "%s:%d: expects \"SQL | property | JSON\"\n", r->name, r->line);
        exit(EXIT_FAILURE);
    }
    *bar = '\0';
    return bar + 3;
}

static void read_pair(struct reader *r, char *line)
{
    char place[128];
    struct buf sql;
    struct buf property;
    char *type = cut(r, line);
    char *expected = cut(r, type);
    snprintf(place, sizeof(place), "%s:%d", r->name, r->line);
    buf_init(&sql, SQL_BYTES);
    buf_init(&property, SQL_BYTES);
    buf_printf(&sql,
               "drop table if exists pg_temp.golden; set search_path = pg_catalog, public;"
               "create temporary table golden as select 1 as k, %s as p;"
               "set search_path = pg_catalog",
               line);
    buf_printf(&property, type[0] == '{' ? "%s" : "{\"type\":\"%s\"}", type);
    golden_run(r->pg, buf_text(&sql), place);
    struct pair pair = {r->name, r->line, line, buf_text(&property), expected};
    r->visit(r->context, r->pg, &pair);
    r->pairs++;
    buf_release(&sql);
    buf_release(&property);
}

/* Evaluates "? extension NAME". Returns false if the server does not have it. */
static bool condition_holds(struct reader *r, const char *line)
{
    char name[64];
    char sql[256];
    struct err err;
    if (sscanf(line, "? extension %63s", name) != 1) {
        fprintf(stderr, "%s:%d: expects \"? extension NAME\"\n", r->name, r->line);
        exit(EXIT_FAILURE);
    }
    snprintf(sql, sizeof(sql), "create extension if not exists \"%s\" schema public cascade", name);
    if (golden_try(r->pg, sql, &err)) {
        return true;
    }
    buf_printf(r->skipped, "%s from line %d on: %s", r->name, r->line, err.message);
    return false;
}

/* Returns false if the file ends here. */
static bool read_line(struct reader *r, char *line)
{
    char place[128];
    line[strcspn(line, "\n")] = '\0';
    r->line++;
    if (line[0] == '?') {
        return condition_holds(r, line);
    }
    if (line[0] == '!') {
        snprintf(place, sizeof(place), "%s:%d", r->name, r->line);
        golden_run(r->pg, line + 1, place);
    } else if (line[0] != '\0' && line[0] != '#') {
        read_pair(r, line);
    }
    return true;
}

int golden_file(struct pg *pg, const char *path, pair_visit visit, void *context,
                struct buf *skipped)
{
    const char *slash = strrchr(path, '/');
    struct reader r = {.pg = pg,
                       .name = slash != NULL ? slash + 1 : path,
                       .visit = visit,
                       .context = context,
                       .skipped = skipped};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    golden_run(pg, "begin", path);
    while (getline(&line, &capacity, file) >= 0 && read_line(&r, line)) {
    }
    golden_run(pg, "rollback", path);
    free(line);
    fclose(file);
    return r.pairs;
}
