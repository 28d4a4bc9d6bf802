/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to the table, compiles the plan, opens the capture. */
#include "rowferry/engine/ports/table_source.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/engine/generation/drift.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/catalog/install.h"
#include "rowferry/source/changelog/changelog.h"
#include "rowferry/source/cursor/cursor.h"
#include "rowferry/source/pg/consumer_lock.h"

#define WORDS_MAX_BYTES ((size_t)64 * 1024 * 1024)

struct table_source {
    struct table_source_options options;
    struct pg *pg; /* valid between connect and capture */
    struct table *table;
    struct pg_identity identity;
    struct plan plan;
    char place[PG_PLACE_BYTES];
    char identity_text[96];
    char fingerprint[17]; /* of everything that the plan uses */
    struct buf words;     /* canonical text of the same, one line each: see drift.h */
};

struct table_source *table_source_new(const struct table_source_options *options)
{
    struct table_source *t = mem_zero(1, sizeof(*t));
    t->options = *options;
    buf_init(&t->words, WORDS_MAX_BYTES);
    return t;
}

static void table_source_reset(struct table_source *t)
{
    pg_close(t->pg);
    catalog_table_free(t->table);
    plan_release(&t->plan);
    buf_reset(&t->words);
    t->pg = NULL;
    t->table = NULL;
    t->plan = (struct plan){0};
}

void table_source_free(struct table_source *t)
{
    if (t != NULL) {
        table_source_reset(t);
        buf_release(&t->words);
        free(t);
    }
}

static void table_source_push_line(struct buf *text, const char *word, const char *what)
{
    if (what != NULL) {
        buf_push_text(text, word);
        buf_push_text(text, what);
        buf_push_char(text, '\n');
    }
}

/* Appends names and types, including the fields of composites. */
static void table_source_push_column(struct buf *text, const struct column *column)
{
    buf_printf(text, "column %s %s\n", column->name, column->declared);
    for (size_t i = 0; i < column->part_count; i++) {
        table_source_push_column(text, &column->parts[i]);
    }
}

/* Computes the fingerprint of everything that determines the documents: key, condition, query,
 * dependencies, and which column fills which property. Other columns may be added or dropped
 * without a rebuild. */
static void table_source_fingerprint(struct table_source *t, const struct buf *views)
{
    struct buf text;
    assert(t->table != NULL);
    buf_init(&text, 32 * 1024 * 1024);
    buf_push_text(&text, buf_text(views));
    for (size_t i = 0; i < t->table->key_count; i++) {
        buf_printf(&text, "key %s %s\n", t->table->key[i], t->table->key_types[i]);
    }
    table_source_push_line(&text, "query ", t->table->query);
    table_source_push_line(&text, "where ", t->options.where);
    table_source_push_line(&text, "cursor ", t->options.cursor);
    table_source_push_line(&text, "routing ", t->options.routing);
    table_source_push_line(&text, "id ", t->options.id);
    table_source_push_line(&text, "provenance ", t->options.provenance);
    for (size_t i = 0; i < t->plan.column_count; i++) {
        table_source_push_column(&text, row_columns_find(&t->table->columns, t->plan.columns[i]));
    }
    for (size_t i = 0; i < t->plan.count; i++) {
        buf_printf(&text, "field %s %zu\n", t->plan.steps[i].prefix, t->plan.steps[i].value);
        table_source_push_line(&text, "zone ", t->plan.zones[t->plan.steps[i].value - 1]);
    }
    snprintf(t->fingerprint, sizeof(t->fingerprint), "%016" PRIx64,
             text_hash(buf_text(&text), text.len));
    buf_release(&text);
}

/* Appends the type, and for a composite its fields. */
static void table_source_push_type(struct buf *out, const struct column *column)
{
    buf_push_text(out, column->declared);
    for (size_t i = 0; i < column->part_count; i++) {
        buf_printf(out, "%s%s ", i == 0 ? " (" : ", ", column->parts[i].name);
        table_source_push_type(out, &column->parts[i]);
    }
    buf_push_text(out, column->part_count > 0 ? ")" : "");
}

static void table_source_word_key(struct table_source *t, struct buf *value)
{
    for (size_t i = 0; i < t->table->key_count; i++) {
        buf_printf(value, "%s%s %s", i > 0 ? ", " : "", t->table->key[i], t->table->key_types[i]);
    }
    drift_words_push(&t->words, WORD_PART, "key", buf_text(value));
    buf_reset(value);
}

/* Appends the columns, and which column fills which property. */
static void table_source_word_fields(struct table_source *t, struct buf *value)
{
    const struct plan *plan = &t->plan;
    for (size_t i = 0; i < plan->column_count; i++) {
        table_source_push_type(value, row_columns_find(&t->table->columns, plan->columns[i]));
        drift_words_push(&t->words, WORD_COLUMN, plan->columns[i], buf_text(value));
        buf_reset(value);
    }
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        const char *zone = plan->zones[step->value - 1];
        buf_push_text(value, plan->columns[step->value - 1]);
        if (zone != NULL) {
            buf_printf(value, " in %s", zone);
        }
        drift_words_push(&t->words, WORD_FIELD, step->property, buf_text(value));
        buf_reset(value);
    }
}

/* Builds the canonical text of everything in the fingerprint, so that two definitions can be
 * compared. Columns and properties are listed by name, because their order changes no document. */
static void table_source_words(struct table_source *t)
{
    struct buf value;
    buf_init(&value, WORDS_MAX_BYTES);
    table_source_word_key(t, &value);
    const char *const parts[][2] = {
        {"query", t->table->query},    {"where", t->options.where},
        {"cursor", t->options.cursor}, {"routing", t->options.routing},
        {"id", t->options.id},         {"provenance", t->options.provenance}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i][1] != NULL) {
            drift_words_push(&t->words, WORD_PART, parts[i][0], parts[i][1]);
        }
    }
    table_source_word_fields(t, &value);
    buf_release(&value);
}

static int table_source_plan(struct table_source *t, struct err *err)
{
    struct plan_input input = {.mapping = t->options.mapping,
                               .columns = &t->table->columns,
                               .fields = t->options.fields,
                               .field_count = t->options.field_count,
                               .document_bytes = t->options.document_bytes};
    int rc = plan_compile(&t->plan, &input, NULL, err);
    if (rc == 0) {
        rc = catalog_check_zones(t->pg, t->plan.zones, t->plan.column_count, err);
    }
    if (rc == 0 && t->options.provenance != NULL) {
        plan_set_provenance(&t->plan, t->options.provenance, t->identity.database, t->table->schema,
                            t->table->name);
    }
    return rc < 0 ? err_context(err, "table %s", t->table->quoted) : 0;
}

static int table_source_check_key(const struct table_source *t, struct err *err)
{
    if (!t->table->key_unique) {
        err_set(err, ERR_REJECTED, "the key of table %s is not unique: no unique index covers it",
                t->table->quoted);
        return err_hint(err, "name key columns in from.key that a unique index covers");
    }
    return 0;
}

/* Looks up the table, with its query if there is one. */
static int table_source_look_up(struct table_source *t, struct err *err)
{
    const struct table_source_options *o = &t->options;
    int rc = catalog_table(t->pg, &t->table, o->table, o->key, o->key_count, err);
    if (rc == 0 && o->query != NULL) {
        rc = query_describe_columns(t->pg, t->table, o->query, err);
    }
    return rc;
}

/* Returns a hash of one entry of from.depends_on. */
static uint64_t table_source_dependency_hash(const struct table *table, const struct dependency *d)
{
    struct buf text;
    buf_init(&text, 32 * 1024 * 1024);
    table_source_push_line(&text, "table ", table->quoted);
    for (size_t i = 0; i < d->key_count; i++) {
        table_source_push_line(&text, "key ", d->key[i]);
    }
    table_source_push_line(&text, "keys ", d->keys);
    uint64_t hash = text_hash(buf_text(&text), text.len);
    buf_release(&text);
    return hash;
}

static void table_source_word_dependency(struct table_source *t, const struct table *table,
                                         const struct dependency *d)
{
    struct buf name;
    buf_init(&name, WORDS_MAX_BYTES);
    buf_printf(&name, "depends_on %s (", table->quoted);
    for (size_t i = 0; i < d->key_count; i++) {
        buf_printf(&name, "%s%s", i > 0 ? ", " : "", d->key[i]);
    }
    buf_push_char(&name, ')');
    drift_words_push(&t->words, WORD_PART, buf_text(&name), d->keys);
    buf_release(&name);
}

/* Looks up the tables of depends_on. *depends becomes a hash of them, independent of their
 * order. */
static int table_source_find_others(struct table_source *t, struct table **others,
                                    uint64_t *depends, struct err *err)
{
    const struct table_source_options *o = &t->options;
    int rc = 0;
    for (size_t i = 0; i < o->dependency_count && rc == 0; i++) {
        rc = depend_of_query(t->pg, &others[i], &o->dependencies[i], err);
        if (rc == 0) {
            rc = installed_require_current(t->pg, others[i], err);
        }
        if (rc == 0) {
            *depends += table_source_dependency_hash(others[i], &o->dependencies[i]);
            table_source_word_dependency(t, others[i], &o->dependencies[i]);
        }
    }
    return rc;
}

/* "public.f(text) 7131..": a word for each, so that the one that was replaced is named. */
static void table_source_word_functions(struct table_source *t, const struct buf *functions)
{
    for (const char *line = buf_text(functions); *line != '\0';) {
        size_t len = strcspn(line, "\n");
        char *name = text_copy_span(span_make(line, len));
        char *blank = strrchr(name, ' ');
        size_t named = blank != NULL ? (size_t)(blank - name) : len;
        struct buf word;
        buf_init(&word, WORDS_MAX_BYTES);
        buf_printf(&word, "function %.*s", (int)named, name);
        drift_words_push(&t->words, WORD_PART, buf_text(&word), name + named + (blank != NULL));
        buf_release(&word);
        free(name);
        line += len + (line[len] != '\0');
    }
}

/* Appends to `views` what the rows depend on beside the table. */
static int table_source_check_reading(struct table_source *t, struct buf *views, struct err *err)
{
    const struct table_source_options *o = &t->options;
    uint64_t depends = 0;
    struct table **others = mem_zero(o->dependency_count, sizeof(struct table *));
    struct query_input in = {t->table, o->where, o->dependencies, o->dependency_count, others};
    const struct capture_traits *traits = capture_traits(o->capture);
    int rc = traits->follows_column ? cursor_require(t->table, o->cursor, err) : 0;
    if (rc == 0 && traits->installs) {
        rc = installed_require_current(t->pg, t->table, err);
    }
    if (rc == 0) {
        rc = table_source_find_others(t, others, &depends, err);
    }
    if (o->dependency_count > 0) {
        buf_printf(views, "depends %" PRIx64 "\n", depends);
    }
    size_t before = views->len;
    struct buf functions;
    buf_init(&functions, WORDS_MAX_BYTES);
    rc = rc == 0 ? depend_require(t->pg, &in, views, &functions, err) : rc;
    if (rc == 0 && views->len > before) {
        drift_words_push(&t->words, WORD_PART, "views", buf_text(views) + before);
    }
    if (rc == 0) {
        table_source_word_functions(t, &functions);
        buf_push_text(views, buf_text(&functions));
    }
    buf_release(&functions);
    for (size_t i = 0; i < o->dependency_count; i++) {
        catalog_table_free(others[i]);
    }
    free(others);
    return rc;
}

static int table_source_connect(struct table_source *t, struct source_facts *facts, struct err *err)
{
    struct buf views;
    table_source_reset(t);
    buf_init(&views, 16 * 1024 * 1024);
    int rc = pg_open(&t->pg, &t->options.connection, err);
    if (rc == 0) {
        rc = pg_identify(t->pg, &t->identity, err);
    }
    if (rc == 0) {
        rc = pg_look_place(t->pg, t->place, err);
    }
    if (rc == 0) {
        rc = table_source_look_up(t, err);
    }
    if (rc == 0) {
        rc = table_source_check_key(t, err);
    }
    if (rc == 0) {
        rc = table_source_plan(t, err);
    }
    if (rc == 0) {
        table_source_words(t);
        rc = table_source_check_reading(t, &views, err);
    }
    if (rc == 0) {
        table_source_fingerprint(t, &views);
    }
    buf_release(&views);
    if (rc < 0) {
        return rc;
    }
    snprintf(t->identity_text, sizeof(t->identity_text), "%s/%s", t->identity.system,
             t->identity.database);
    *facts = (struct source_facts){
        t->identity_text,           t->fingerprint, &t->plan, buf_text(&t->words),
        t->identity.server_version, t->place};
    return 0;
}

static struct changelog_options table_source_changelog(const struct table_source *t,
                                                       const char *consumer)
{
    return (struct changelog_options){.consumer = consumer,
                                      .table = t->options.table,
                                      .key = (const char *const *)t->table->key,
                                      .key_count = t->table->key_count,
                                      .where = t->options.where,
                                      .query = t->options.query,
                                      .dependencies = t->options.dependencies,
                                      .dependency_count = t->options.dependency_count,
                                      .retain_age_ms = t->options.retain_age_ms,
                                      .retain_size = t->options.retain_size,
                                      .columns = (const char *const *)t->plan.columns,
                                      .zones = (const char *const *)t->plan.zones,
                                      .column_count = t->plan.column_count,
                                      .fingerprint = t->table->fingerprint,
                                      .readers = t->options.readers};
}

static int table_source_mirrored(struct table_source *t, const char *consumer, const char *own,
                                 struct mirrored *out, struct err *err)
{
    *out = (struct mirrored){0};
    int rc = consumer_lock_hold(t->pg, consumer, err);
    const struct capture_traits *traits = capture_traits(t->options.capture);
    if (rc == 0 && !traits->keeps) {
        (void)!err_set(&out->why, ERR_STATE, "capture mode %s keeps nothing in the source",
                       traits->name);
    } else if (rc == 0) {
        struct changelog_options options = table_source_changelog(t, consumer);
        rc = changelog_mirrored(t->pg, &options, own, out, err);
    }
    return rc;
}

static bool table_source_names(const char *const *properties, size_t count, const char *property)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(properties[i]);
        if (strncmp(properties[i], property, len) == 0 &&
            (property[len] == '\0' || property[len] == '.')) {
            return true;
        }
    }
    return false;
}

/* Returns the columns that fill only these properties, null if there are none. The caller frees
 * the list only. A column that fills another property too is already in use with its current
 * definition. */
static const char **table_source_columns_of(const struct plan *plan, const char *const *properties,
                                            size_t count, size_t *column_count)
{
    const char **columns = mem_zero(plan->column_count + 1, sizeof(*columns));
    *column_count = 0;
    for (size_t i = 0; i < plan->column_count; i++) {
        bool relied_on = false;
        for (size_t k = 0; k < plan->count; k++) {
            relied_on =
                relied_on || (plan->steps[k].value == i + 1 &&
                              !table_source_names(properties, count, plan->steps[k].property));
        }
        if (!relied_on) {
            columns[(*column_count)++] = plan->columns[i];
        }
    }
    return columns;
}

/* Nothing to do if the capture keeps nothing in the source, or for a query, whose column
 * definitions are not stored. */
static int table_source_extend(struct table_source *t, const char *consumer,
                               const char *const *properties, size_t count, struct err *err)
{
    size_t column_count;
    int rc = consumer_lock_hold(t->pg, consumer, err);
    if (rc < 0 || !capture_traits(t->options.capture)->keeps || t->options.query != NULL) {
        return rc;
    }
    const char **columns = table_source_columns_of(&t->plan, properties, count, &column_count);
    if (column_count > 0) {
        rc = extend_changelog(t->pg, t->table, consumer, columns, column_count, err);
    }
    free(columns);
    return rc;
}

static int table_source_claim(struct table_source *t, const char *name, struct err *err)
{
    return t->pg != NULL ? consumer_lock_claim(t->pg, name, err) : 0;
}

static int table_source_open_changelog(struct table_source *t, struct pg *pg, const char *consumer,
                                       struct capture **out, struct err *err)
{
    struct changelog_options options = table_source_changelog(t, consumer);
    return changelog_open(out, pg, &options, err);
}

static int table_source_open_cursor(struct table_source *t, struct pg *pg, const char *consumer,
                                    struct capture **out, struct err *err)
{
    (void)consumer;
    struct cursor_options options = {.table = t->options.table,
                                     .key = (const char *const *)t->table->key,
                                     .key_count = t->table->key_count,
                                     .column = t->options.cursor,
                                     .overlap_ms = t->options.overlap_ms,
                                     .where = t->options.where,
                                     .columns = (const char *const *)t->plan.columns,
                                     .zones = (const char *const *)t->plan.zones,
                                     .column_count = t->plan.column_count,
                                     .fingerprint = t->table->fingerprint};
    return cursor_open(out, pg, &options, err);
}

static int table_source_capture(struct table_source *t, const char *consumer, struct capture **out,
                                struct err *err)
{
    static int (*const open_capture[CAPTURE_MODES])(
        struct table_source *, struct pg *, const char *, struct capture **,
        struct err *) = {[CAPTURE_MODE_CHANGELOG] = table_source_open_changelog,
                         [CAPTURE_MODE_CURSOR] = table_source_open_cursor};
    int rc = consumer_lock_hold(t->pg, consumer, err);
    if (rc < 0) {
        return rc;
    }
    struct pg *pg = t->pg;
    t->pg = NULL;
    return open_capture[t->options.capture](t, pg, consumer, out, err);
}

static const struct source_port_ops table_ops = {
    .connect = table_source_connect,
    .claim = table_source_claim,
    .capture = table_source_capture,
    .mirrored = table_source_mirrored,
    .extend = table_source_extend,
};

struct source_port table_source_port(struct table_source *t)
{
    return (struct source_port){&table_ops, t};
}
