/* SPDX-License-Identifier: Apache-2.0 */
/* Renders the differences and their totals, as text and as JSON. */
#include "output/differences.h"

#include "rowferry/daemon/repairs.h"

#include <inttypes.h>

#include "output/result.h"
#include "output/terminal.h"
#include "output/value_diff.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"

#define TEXT_BYTES ((size_t)4 << 20)
#define FIELDS_SHOWN 8
#define VALUE_BYTES 1024 /* of one shown value, including escapes */

static const char *const text_names[VERIFY_KINDS] = {
    [VERIFY_MISSING] = "missing",
    [VERIFY_EXTRA] = "extra",
    [VERIFY_ALTERED] = "altered",
    [VERIFY_LETTER] = "dead letter",
};

static const char *const json_names[VERIFY_KINDS] = {
    [VERIFY_MISSING] = "missing",
    [VERIFY_EXTRA] = "extra",
    [VERIFY_ALTERED] = "altered",
    [VERIFY_LETTER] = "dead_letter",
};
static const char *const forms[] = {
    [SOURCE_AS_SENT] = "as_sent",
    [SOURCE_VECTORS_APART] = "vectors_apart",
    [SOURCE_DERIVED] = "derived",
};

void differences_init(struct differences *d, bool json, int64_t most)
{
    *d = (struct differences){.json = json, .most = most};
    buf_init(&d->text, TEXT_BYTES);
}

void differences_release(struct differences *d)
{
    buf_release(&d->text);
}

void differences_reset(struct differences *d)
{
    buf_reset(&d->text);
    d->shown = 0;
}

/* --- one difference --------------------------------------------------------------------------- */

struct fields {
    struct buf *out;
    size_t count;
    bool json;
};

static void differences_push_json_value(struct buf *out, const char *name, struct span value,
                                        struct span other)
{
    struct buf text;
    buf_init(&text, VALUE_BYTES);
    value_diff_push(&text, value, other);
    record_text(out, name, value.data != NULL ? buf_text(&text) : NULL);
    buf_release(&text);
}

static void differences_push_field(void *context, const struct difference *d)
{
    struct fields *f = context;
    if (f->count++ >= FIELDS_SHOWN) {
        return;
    }
    if (f->json) {
        buf_push_text(f->out, f->count > 1 ? "," : "");
        record_open(f->out);
        record_text(f->out, "path", d->path);
        differences_push_json_value(f->out, "row", d->row, d->indexed);
        differences_push_json_value(f->out, "index", d->indexed, d->row);
        record_close(f->out);
        return;
    }
    buf_printf(f->out, "    %s: row ", d->path);
    value_diff_push(f->out, d->row, d->indexed);
    buf_push_literal(f->out, ", index ");
    value_diff_push(f->out, d->indexed, d->row);
    buf_push_char(f->out, '\n');
}

static void differences_push_fields(struct fields *f, const struct verify_found *found)
{
    if (found->kind == VERIFY_ALTERED && found->indexed.len > 0) {
        compare_documents(found->rules, found->row, found->indexed, differences_push_field, f);
    }
}

static void differences_add_line(struct differences *d, const struct verify_found *found)
{
    struct fields fields = {.out = &d->text};
    buf_printf(&d->text, "  %s ", text_names[found->kind]);
    terminal_push_safe(&d->text, found->key.data, found->key.len);
    if (found->reason != NULL) {
        buf_push_literal(&d->text, ": ");
        terminal_push_safe(&d->text, found->reason, strlen(found->reason));
    }
    buf_push_text(&d->text, found->impossible ? ": no row can have this key\n" : "\n");
    differences_push_fields(&fields, found);
    if (fields.count > FIELDS_SHOWN) {
        buf_printf(&d->text, "    and %zu more fields\n", fields.count - FIELDS_SHOWN);
    }
}

static void differences_add_object(struct differences *d, const struct verify_found *found)
{
    struct fields fields = {.out = &d->text, .json = true};
    buf_push_text(&d->text, d->shown > 0 ? "," : "");
    record_open(&d->text);
    record_text(&d->text, "kind", json_names[found->kind]);
    record_span(&d->text, "key", found->key.data, found->key.len);
    record_text(&d->text, "reason", found->impossible ? "no row can have this key" : found->reason);
    record_name(&d->text, "fields");
    buf_push_char(&d->text, '[');
    differences_push_fields(&fields, found);
    buf_push_char(&d->text, ']');
    record_int(&d->text, "field_count", (int64_t)fields.count);
    record_close(&d->text);
}

void differences_add(struct differences *d, const struct verify_found *found)
{
    size_t before = d->text.len;
    if (d->shown >= d->most) {
        return;
    }
    if (d->json) {
        differences_add_object(d, found);
    } else {
        differences_add_line(d, found);
    }
    if (d->text.failed) { /* drop a partial one */
        buf_truncate(&d->text, before);
        d->most = d->shown;
        return;
    }
    d->shown++;
}

/* --- summary ---------------------------------------------------------------------------------- */

static void differences_push_skipped(struct buf *out, const struct verified *v)
{
    const struct mapping *m = v->rules->mapping;
    for (size_t i = 0; i < m->count; i++) {
        const char *why = compare_skips(v->rules, &m->properties[i]);
        if (why != NULL) {
            buf_printf(out, "  not compared: %s: %s\n", m->properties[i].name, why);
        }
    }
    if (v->rules->filled) {
        buf_push_literal(
            out, "  not compared: fields that only the index has (\"to.ingest_pipeline\")\n");
    }
    if (v->rules->form == SOURCE_DERIVED) {
        buf_push_literal(
            out,
            "  compared as sets of values: the service derives the source from what it indexed\n");
    }
}

/* Reports that nothing was found. That means "equal" only if the comparison was complete. */
static void differences_push_nothing_found(struct buf *out, const struct verified *v)
{
    const struct verify_result *r = v->result;
    char n[UNITS_BYTES];
    if (v->error != NULL || r->stopped) {
        buf_push_literal(out, "no difference so far");
    } else if (r->waiting > 0) {
        buf_printf(out, "not known yet: %s not yet synced", units_count(n, r->waiting));
    } else {
        buf_push_literal(out, "equal");
    }
}

static void differences_push_counts(struct buf *out, const struct verified *v)
{
    const struct verify_result *r = v->result;
    char n[UNITS_BYTES];
    bool first = true;
    for (size_t i = 0; i < VERIFY_KINDS; i++) {
        if (r->found[i] > 0) {
            buf_printf(out, "%s%s %s%s", first ? "" : ", ", units_count(n, r->found[i]),
                       text_names[i], i == VERIFY_LETTER && r->found[i] > 1 ? "s" : "");
            first = false;
        }
    }
    if (first) {
        differences_push_nothing_found(out, v);
    }
}

static void differences_push_waiting(struct buf *out, const struct verified *v)
{
    const struct verify_result *r = v->result;
    char n[UNITS_BYTES];
    if (r->waiting == 0) {
        return;
    }
    buf_printf(out, "  %s not yet synced%s\n", units_count(n, r->waiting),
               r->halted ? ": the guard stopped the pipeline"
               : r->held ? ""
                         : ": sync first");
    if (r->halted) {
        buf_printf(out,
                   "  next: rowferry status %s, then rowferry sync %s, with --allow-deletes if "
                   "the deletes are intended\n",
                   v->pipeline, v->pipeline);
    }
}

static void differences_push_notes(struct buf *out, const struct differences *d,
                                   const struct verified *v)
{
    const struct verify_result *r = v->result;
    char n[UNITS_BYTES];
    char iso[CLOCK_ISO_BYTES];
    int64_t all = verify_differences(r) + r->found[VERIFY_LETTER];
    if (all > d->shown) {
        buf_printf(out, "  and %s more: see --limit\n", units_count(n, all - d->shown));
    }
    differences_push_waiting(out, v);
    if (repairs_look_restored(r)) {
        buf_printf(out,
                   "  the index looks restored from an older copy: its newest document is of %s, ",
                   clock_iso(iso, r->newest_us, 0));
        buf_printf(out, "the pipeline settled changes until %s\n",
                   clock_iso(iso, r->settled_us, 0));
    }
    if (v->filtered) {
        buf_push_literal(out, "  documents without a row were not looked for (--where)\n");
    }
    if (r->unlisted) {
        buf_push_literal(
            out, "  the index could not be refreshed: extra documents that were written last "
                 "may not be listed\n");
    }
}

static void differences_push_text(struct buf *out, const struct differences *d,
                                  const struct verified *v)
{
    const struct verify_result *r = v->result;
    char rows[UNITS_BYTES];
    char documents[UNITS_BYTES];
    char took[UNITS_BYTES];
    buf_printf(out, "%s: %s", v->pipeline,
               v->error != NULL ? "failed, "
               : r->stopped     ? "stopped, "
                                : "");
    differences_push_counts(out, v);
    buf_printf(out, "; %s rows%s and %s documents of %s in %s\n", units_count(rows, r->rows),
               v->sampled ? " chosen at random" : "", units_count(documents, r->documents),
               r->generation, result_duration(took, v->took_ms));
    buf_push(out, d->text.data, d->text.len);
    differences_push_notes(out, d, v);
    differences_push_skipped(out, v);
}

static void differences_push_json_skipped(struct buf *out, const struct verified *v)
{
    const struct mapping *m = v->rules->mapping;
    record_name(out, "not_compared");
    buf_push_char(out, '[');
    for (size_t i = 0, count = 0; m != NULL && i < m->count; i++) {
        const char *why = compare_skips(v->rules, &m->properties[i]);
        if (why != NULL) {
            buf_push_text(out, count++ > 0 ? "," : "");
            record_open(out);
            record_text(out, "property", m->properties[i].name);
            record_text(out, "why", why);
            record_close(out);
        }
    }
    buf_push_char(out, ']');
}

static void differences_push_json(struct buf *out, const struct differences *d,
                                  const struct verified *v)
{
    const struct verify_result *r = v->result;
    record_open(out);
    record_text(out, "pipeline", v->pipeline);
    record_text(out, "alias", v->index);
    record_text(out, "generation", r->generation[0] != '\0' ? r->generation : NULL);
    record_bool(out, "equal", v->error == NULL && verify_equal(r));
    record_int(out, "rows", r->rows);
    record_int(out, "documents", r->documents);
    record_int(out, "missing", r->found[VERIFY_MISSING]);
    record_int(out, "extra", r->found[VERIFY_EXTRA]);
    record_int(out, "altered", r->found[VERIFY_ALTERED]);
    record_int(out, "dead_letters", r->found[VERIFY_LETTER]);
    record_int(out, "waiting", r->waiting);
    record_bool(out, "guard_stopped", r->halted);
    record_bool(out, "sampled", v->sampled);
    record_bool(out, "extra_looked_for", !v->filtered);
    record_bool(out, "looks_restored", repairs_look_restored(r));
    record_time(out, "newest_document", r->newest_us);
    record_text(out, "source_form", forms[r->form]);
    differences_push_json_skipped(out, v);
    record_name(out, "differences");
    buf_push_char(out, '[');
    buf_push(out, d->text.data, d->text.len);
    buf_push_char(out, ']');
    record_bool(out, "stopped", r->stopped);
    record_seconds(out, "seconds", v->took_ms);
    record_int(out, "exit_code", v->exit_code);
    record_text(out, "error", v->error);
    record_close(out);
    buf_push_char(out, '\n');
}

void differences_push(struct buf *out, const struct differences *d, const struct verified *v)
{
    if (d->json) {
        differences_push_json(out, d, v);
    } else {
        differences_push_text(out, d, v);
    }
}
