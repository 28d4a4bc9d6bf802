/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two definitions, and finds out if the difference is additive. */
#include "rowferry/engine/generation/drift.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapdiff.h"

#define LINE_MAX_BYTES ((size_t)64 << 20)
#define SHOWN_MAX_BYTES 200 /* of a value; a longer one is shown as "another" */
#define THROUGH "\nthrough "

/* --- canonical text -------------------------------------------------------------------------- */

void drift_words_push(struct buf *words, enum word_kind kind, const char *name, const char *value)
{
    buf_printf(words, "%c\t", (char)kind);
    text_escape(words, name, strlen(name));
    buf_push_char(words, '\t');
    text_escape(words, value, strlen(value));
    buf_push_char(words, '\n');
}

void drift_words_push_mapping(struct buf *words, const char *mappings, const char *ingest_pipeline)
{
    buf_push_text(words, mappings);
    if (ingest_pipeline != NULL) {
        buf_push_literal(words, THROUGH);
        buf_push_text(words, ingest_pipeline);
    }
}

/* A parsed line of a canonical text. */
struct word {
    struct span line;
    enum word_kind kind;
    struct span name;
    struct span value;
};

static bool drift_next_word(struct word *w, const char **at)
{
    size_t len = strcspn(*at, "\n");
    if (len < 2) {
        return false;
    }
    size_t name = strcspn(*at + 2, "\t\n");
    w->line = span_make(*at, len);
    w->kind = (enum word_kind)(*at)[0];
    w->name = span_make(*at + 2, name);
    w->value = name + 3 <= len ? span_make(*at + name + 3, len - name - 3) : span_make("", 0);
    *at += len + ((*at)[len] == '\n');
    return true;
}

static bool drift_has_line(const char *words, const struct word *line)
{
    struct word w;
    while (drift_next_word(&w, &words)) {
        if (span_equal(w.line, line->line)) {
            return true;
        }
    }
    return false;
}

/* Finds the line that replaced `line`: same kind and name, and missing from the other side. */
static bool drift_find_instead(struct word *out, const char *words, const char *other,
                               const struct word *line)
{
    while (drift_next_word(out, &words)) {
        if (out->kind == line->kind && span_equal(out->name, line->name) &&
            !drift_has_line(other, out)) {
            return true;
        }
    }
    return false;
}

/* --- lines of the difference ----------------------------------------------------------------- */

static void drift_add_text(char ***items, size_t *count, char *text)
{
    *items = mem_grow(*items, *count + 1, sizeof(**items));
    (*items)[(*count)++] = text;
}

/* Appends the values before and after. Long ones are replaced by "added", "removed" or
 * "another". */
static void drift_push_values(struct buf *line, const struct word *was, const struct word *is)
{
    bool brief = (was == NULL || was->value.len <= SHOWN_MAX_BYTES) &&
                 (is == NULL || is->value.len <= SHOWN_MAX_BYTES);
    if (!brief) {
        buf_push_text(line, was == NULL ? "added" : is == NULL ? "removed" : "another");
        return;
    }
    const struct span none = span_make("none", 4);
    struct span before = was != NULL ? was->value : none;
    struct span after = is != NULL ? is->value : none;
    buf_push(line, before.data, before.len);
    buf_push_literal(line, " -> ");
    buf_push(line, after.data, after.len);
}

static void drift_push_name(struct buf *line, const struct word *w)
{
    if (w->kind == WORD_FIELD) {
        buf_push_literal(line, "fields.");
    } else if (w->kind == WORD_COLUMN) {
        buf_push_literal(line, "column ");
    }
    buf_push(line, w->name.data, w->name.len);
}

/* Adds a line. Either side may be null if it has no such entry. */
static void drift_add_line(struct drift_found *d, const struct word *was, const struct word *is)
{
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    drift_push_name(&line, was != NULL ? was : is);
    buf_push_literal(&line, ": ");
    drift_push_values(&line, was, is);
    drift_add_text(&d->lines, &d->line_count, buf_detach(&line));
}

/* Returns true for an added property, or a dotted name within an added object. */
static bool drift_is_added(const struct drift_found *d, struct span property)
{
    for (size_t i = 0; i < d->added_count; i++) {
        size_t len = strlen(d->added[i]);
        if (property.len >= len && memcmp(property.data, d->added[i], len) == 0 &&
            (property.len == len || property.data[len] == '.')) {
            return true;
        }
    }
    return false;
}

/* Returns true if the mapping's own line already reports the removal: "body: removed ...". */
static bool drift_is_removed(const struct drift_found *d, const struct word *w)
{
    for (size_t i = 0; i < d->line_count && w->kind == WORD_FIELD; i++) {
        const char *line = d->lines[i];
        if (strncmp(line, w->name.data, w->name.len) == 0 &&
            strncmp(line + w->name.len, ": removed", strlen(": removed")) == 0) {
            return true;
        }
    }
    return false;
}

/* Compares two tables. Columns are added or removed with the fields that they fill, and a field
 * with its property, so they get no lines of their own. Returns true if nothing else differs. */
static bool drift_compare_tables(struct drift_found *d, const char *was, const char *is)
{
    struct word w;
    struct word other;
    bool same = true;
    for (const char *at = was; drift_next_word(&w, &at);) {
        if (drift_has_line(is, &w)) {
            continue;
        }
        bool changed = drift_find_instead(&other, is, was, &w);
        if (!changed && (w.kind == WORD_COLUMN || drift_is_removed(d, &w))) {
            continue; /* the mapping's difference is then not additive */
        }
        drift_add_line(d, &w, changed ? &other : NULL);
        same = false;
    }
    for (const char *at = is; drift_next_word(&w, &at);) {
        bool comes = w.kind == WORD_COLUMN || (w.kind == WORD_FIELD && drift_is_added(d, w.name));
        if (!comes && !drift_has_line(was, &w) && !drift_find_instead(&other, was, is, &w)) {
            drift_add_line(d, NULL, &w);
            same = false;
        }
    }
    return same;
}

/* Adds "title: type text -> keyword", or mapdiff's wording if several parameters differ. */
static void drift_add_mapping_line(struct drift_found *d, const struct mapdiff_line *line)
{
    struct buf text;
    buf_init(&text, LINE_MAX_BYTES);
    mapdiff_describe(&text, line);
    drift_add_text(&d->lines, &d->line_count, buf_detach(&text));
    if (line->additive) {
        drift_add_text(&d->added, &d->added_count, text_copy(line->path));
    }
}

/* Splits the canonical text of a mapping. *through is null if it has no ingest pipeline. */
static char *drift_split(const char *words, const char **through)
{
    const char *end = strstr(words, THROUGH);
    *through = end != NULL ? end + strlen(THROUGH) : NULL;
    return end != NULL ? text_copy_span(span_make(words, (size_t)(end - words))) : text_copy(words);
}

static bool drift_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool drift_compare_pipelines(struct drift_found *d, const char *was, const char *is)
{
    if (drift_same_text(was, is)) {
        return true;
    }
    struct buf line;
    buf_init(&line, LINE_MAX_BYTES);
    buf_printf(&line, "ingest_pipeline: %s -> %s", was != NULL ? was : "none",
               is != NULL ? is : "none");
    drift_add_text(&d->lines, &d->line_count, buf_detach(&line));
    return false;
}

/* Returns true if the new mapping is equivalent or only adds properties. */
static bool drift_compare_mappings(struct drift_found *d, const char *was_words,
                                   const char *is_words)
{
    struct mapdiff diff = {0};
    struct buf additions;
    struct err unreadable;
    const char *was_through;
    const char *is_through;
    char *was = drift_split(was_words, &was_through);
    char *is = drift_split(is_words, &is_through);
    buf_init(&additions, LINE_MAX_BYTES);
    bool adds =
        mapdiff_make(&diff, is, was, &unreadable) == 0 && (diff.additive || diff.count == 0);
    for (size_t i = 0; i < diff.count; i++) {
        drift_add_mapping_line(d, &diff.lines[i]);
    }
    if (adds) {
        mapdiff_additions(&additions, &diff, is);
        d->additions = text_copy(buf_text(&additions));
    }
    adds = drift_compare_pipelines(d, was_through, is_through) && adds;
    mapdiff_release(&diff);
    buf_release(&additions);
    free(was);
    free(is);
    return adds;
}

/* Returns true if the difference is additive. If only one fingerprint differs, the other side's
 * texts are equal. */
static bool drift_only_adds(struct drift_found *d, const struct drift_side *was,
                            const struct drift_side *is, bool same_mapping, bool same_table)
{
    bool mapping_known = was->mapping_words != NULL && is->mapping_words != NULL;
    bool table_known = was->table_words != NULL && is->table_words != NULL;
    bool mapping_adds = same_mapping;
    bool table_adds = same_table;
    if (mapping_known) {
        mapping_adds = drift_compare_mappings(d, was->mapping_words, is->mapping_words);
    }
    if (!same_table && table_known) {
        table_adds = drift_compare_tables(d, was->table_words, is->table_words);
    }
    d->what =
        !mapping_adds
            ? "mapping or to.ingest_pipeline differ from those"
            : "key, to.id, to.routing, to.provenance, fields, mapped columns, depends_on, where or "
              "query differ from those";
    return mapping_adds && table_adds;
}

void drift_find(struct drift_found *out, const struct drift_side *was, const struct drift_side *is)
{
    *out = (struct drift_found){.kind = DRIFT_REBUILD};
    bool same_mapping = was->mapping != NULL && strcmp(was->mapping, is->mapping) == 0;
    bool same_table = was->table != NULL && strcmp(was->table, is->table) == 0;
    if (was->identity == NULL || strcmp(was->identity, is->identity) != 0) {
        out->what = "the source is another database than the one";
        return;
    }
    if (same_mapping && same_table) {
        out->kind = DRIFT_NONE;
        return;
    }
    if (drift_only_adds(out, was, is, same_mapping, same_table)) {
        out->kind = DRIFT_ADDITIVE;
        out->additions = out->additions != NULL ? out->additions : text_copy("{}");
        out->what = "the mapping has other properties than the one";
    }
}

void drift_release(struct drift_found *d)
{
    text_free_list(d->lines, d->line_count);
    text_free_list(d->added, d->added_count);
    free(d->additions);
    *d = (struct drift_found){0};
}
