/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that every line of the type table has a golden pair, and that every PostgreSQL type has a
 * line or a decision.
 *
 *     golden_table BUILTIN FILE...     BUILTIN: builtin.list, the decision on each built-in type
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "plan/type_table.h"
#include "rowferry/base/text.h"

#define MAX_RULES 256
#define LEAST_PAIRS 300

struct coverage {
    int pairs[MAX_RULES];  /* per line: pairs whose value the encoder accepted or refused with it */
    bool known[MAX_RULES]; /* the server has a type that the line names */
};

/* Reads the next word of a list. Returns false at its end. */
static bool next_word(const char **list, char *word, size_t size)
{
    *list += strspn(*list, " ");
    size_t len = strcspn(*list, " ");
    snprintf(word, size, "%.*s", (int)len, *list);
    *list += len;
    return len > 0;
}

static bool type_exists(struct pg *pg, const char *word)
{
    char name[64];
    const char *const params[] = {name};
    struct pg_result *r = NULL;
    struct err err;
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "["), word);
    if (pg_query(pg, &r, "any", "select from pg_type where typname = $1", params, 1, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        exit(EXIT_FAILURE);
    }
    bool exists = pg_rows(r) > 0;
    pg_result_release(r);
    return exists;
}

/* Families ("enum", "composite" ...) and built-in types always exist. Types of an extension exist
 * only if a file of pairs could create it. */
static bool any_type_exists(struct pg *pg, const char *columns)
{
    static const char *const families[] = {"enum", "composite", "range", "multirange", TYPE_OTHER};
    char word[64];
    while (next_word(&columns, word, sizeof(word))) {
        for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
            if (strcmp(word, families[i]) == 0) {
                return true;
            }
        }
        if (type_exists(pg, word)) {
            return true;
        }
    }
    return false;
}

static void look_around(struct coverage *c, struct pg *pg)
{
    for (size_t i = 0; type_rules[i].columns != NULL; i++) {
        c->known[i] = c->known[i] || any_type_exists(pg, type_rules[i].columns);
    }
}

static void count_pair(void *context, struct pg *pg, const struct pair *pair)
{
    struct coverage *c = context;
    struct golden_plan plan;
    struct buf properties;
    buf_init(&properties, 65536);
    buf_printf(&properties, "{\"p\":%s}", pair->property);
    golden_plan(&plan, pg, "golden", buf_text(&properties));
    look_around(c, pg);
    /* a NULL is not converted */
    if (plan.fits && strcmp(pair->expected, "absent") != 0) {
        c->pairs[plan.plan.steps[0].pair.rule - type_rules]++;
    }
    golden_plan_release(&plan);
    buf_release(&properties);
}

static int report(const struct coverage *c)
{
    int missing = 0;
    for (size_t i = 0; type_rules[i].columns != NULL; i++) {
        const struct type_rule *r = &type_rules[i];
        if (c->pairs[i] > 0) {
            continue;
        }
        if (c->known[i]) {
            missing++;
            fprintf(stderr, "no golden pair: %s into %s\n", r->columns, r->properties);
        } else {
            printf("not looked at, the server has no such type: %s into %s\n", r->columns,
                   r->properties);
        }
    }
    return missing;
}

static int check_lines(struct pg *pg, char **files, int count)
{
    static struct coverage coverage;
    struct buf skipped;
    int pairs = 0;
    buf_init(&skipped, 4096);
    for (int i = 0; i < count; i++) {
        buf_reset(&skipped);
        pairs += golden_file(pg, files[i], count_pair, &coverage, &skipped);
        printf("%s%s", buf_text(&skipped), skipped.len > 0 ? "\n" : "");
    }
    buf_release(&skipped);
    int missing = report(&coverage);
    printf("%d pairs in %d files, %d lines of the type table without one\n", pairs, count, missing);
    if (pairs < LEAST_PAIRS) {
        fprintf(stderr, "only %d pairs, at least %d belong here\n", pairs, LEAST_PAIRS);
    }
    return missing + (pairs < LEAST_PAIRS);
}

/* Returns "named" if a line of the table names the type, else "other". */
static const char *fate(const char *name)
{
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        const char *list = r->columns;
        char word[64];
        while (next_word(&list, word, sizeof(word))) {
            if (strcmp(word, name) == 0) {
                return "named";
            }
        }
    }
    return TYPE_OTHER;
}

/* Reads the decision of builtin.list on a type: "named", "other", or empty if it is missing. */
static void read_decision(const char *path, const char *name, char decision[16])
{
    char line[256];
    char type[64];
    FILE *file = fopen(path, "r");
    decision[0] = '\0';
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "%63s %15s", type, decision) == 2 && strcmp(type, name) == 0) {
            break;
        }
        decision[0] = '\0';
    }
    if (file != NULL) {
        fclose(file);
    }
}

static int check_builtin(struct pg *pg, const char *path)
{
    static const char query[] =
        "select typname from pg_type where typtype = 'b' and typcategory <> 'A'"
        " and typnamespace = 'pg_catalog'::regnamespace order by 1";
    struct pg_result *r = NULL;
    struct err err;
    int wrong = 0;
    if (pg_query(pg, &r, "any: text", query, NULL, 0, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (size_t i = 0; i < pg_rows(r); i++) {
        char decision[16];
        const char *name = pg_text(r, i, 0);
        read_decision(path, name, decision);
        if (strcmp(decision, fate(name)) != 0) {
            wrong++;
            fprintf(stderr, "built-in type %s: the table says %s, builtin.list %s\n", name,
                    fate(name), decision[0] != '\0' ? decision : "nothing");
        }
    }
    printf("%zu built-in types, %d without the decision that builtin.list holds\n", pg_rows(r),
           wrong);
    bool none = pg_rows(r) == 0;
    pg_result_release(r);
    return wrong + none;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("golden_table BUILTIN FILE...\n", stderr);
        return EXIT_FAILURE;
    }
    struct pg *pg = golden_open();
    int wrong = check_lines(pg, argv + 2, argc - 2);
    wrong += check_builtin(pg, argv[1]);
    pg_close(pg);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
