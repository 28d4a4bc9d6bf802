/* SPDX-License-Identifier: Apache-2.0 */
/* Renders the findings of a trial as lines and as JSON. */
#include "output/validation_report.h"

#include <inttypes.h>

#include "output/terminal.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"

/* --- lines ------------------------------------------------------------------------------------ */

static enum colour validation_report_colour_of(enum validate_status s)
{
    return s == VALIDATE_FAIL   ? COLOUR_RED
           : s == VALIDATE_PASS ? COLOUR_GREEN
           : s == VALIDATE_WARN ? COLOUR_YELLOW
                                : COLOUR_BOLD;
}

static void validation_report_push_safe(struct buf *out, const char *text)
{
    terminal_push_safe(out, text, strlen(text));
}

bool validation_report_tried(const struct validation_report *v)
{
    return v->report->index[0] != '\0';
}

static void validation_report_push_head(struct buf *out, const struct validation_report *v)
{
    char rows[UNITS_BYTES];
    const struct validate_report *r = v->report;
    buf_printf(out, "%s: %s%s%s%s, ", v->pipeline, product_name(r->product.product),
               r->product.version[0] != '\0' ? " " : "", r->product.version,
               r->product.stand_in ? " (devsearch, a stand-in)" : "");
    if (r->figures.rows >= 0) {
        buf_printf(out, "%zu of %s%s rows, ", r->figures.sampled,
                   r->figures.rows_exact ? "" : "about ", units_count(rows, r->figures.rows));
    }
    buf_printf(out, "index %s\n", r->index);
}

static void validation_report_push_note(struct buf *out, const struct validate_note *n,
                                        bool colours)
{
    buf_push_literal(out, "      ");
    terminal_push(out, colours, validation_report_colour_of(n->status),
                  validate_status_name(n->status));
    buf_push_literal(out, "  ");
    validation_report_push_safe(out, n->text);
    if (n->remedy != NULL) {
        buf_push_literal(out, "\n        -> ");
        validation_report_push_safe(out, n->remedy);
    }
    buf_push_char(out, '\n');
}

static void validation_report_push_ndcg(struct buf *out, const struct validate_figures *f)
{
    for (size_t i = 0; i < f->judged_count; i++) {
        buf_printf(out, "      %.3f  ", f->judged[i].ndcg);
        validation_report_push_safe(out, f->judged[i].name);
        buf_push_char(out, '\n');
    }
}

/* Lists verdict, nDCG, that of the other definition, and how many of the first hits differ. */
static void validation_report_push_compared(struct buf *out, const struct validate_figures *f)
{
    for (size_t i = 0; i < f->compared_count; i++) {
        const struct validate_compared *c = &f->compared[i];
        buf_printf(out, "      %-7s  ", validate_verdict_name(c->verdict));
        if (c->ndcg >= 0) {
            buf_printf(out, "%.3f, other %.3f  ", c->ndcg, c->other_ndcg);
        }
        validation_report_push_safe(out, c->name);
        if (c->place > 0) {
            buf_printf(out, ": %zu of the first %d hits differ, the order from place %zu",
                       c->differ, NDCG_HITS, c->place);
        }
        buf_push_char(out, '\n');
    }
}

void validation_report_push_text(struct buf *out, const struct validation_report *v, bool colours)
{
    validation_report_push_head(out, v);
    for (size_t i = 0; i < v->report->step_count; i++) {
        const struct validate_step *s = &v->report->steps[i];
        terminal_push(out, colours, validation_report_colour_of(s->status),
                      validate_status_name(s->status));
        buf_printf(out, "  %-9s %6" PRId64 " ms  ", s->name, (s->took_us + 500) / 1000);
        validation_report_push_safe(out, s->text != NULL ? s->text : "not tried");
        buf_push_char(out, '\n');
        if (i == VALIDATE_RELEVANCE) {
            validation_report_push_ndcg(out, &v->report->figures);
        } else if (i == VALIDATE_AGAINST) {
            validation_report_push_compared(out, &v->report->figures);
        }
        for (size_t k = 0; k < s->note_count; k++) {
            validation_report_push_note(out, &s->notes[k], colours);
        }
        if (s->notes_left_out > 0) {
            buf_printf(out, "      and %zu more\n", s->notes_left_out);
        }
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void validation_report_push_list(struct buf *out, size_t i)
{
    buf_push_text(out, i > 0 ? "," : "");
}

static void validation_report_push_step(struct buf *out, const struct validate_step *s)
{
    record_open(out);
    record_text(out, "step", s->name);
    record_text(out, "status", validate_status_name(s->status));
    record_int(out, "milliseconds", (s->took_us + 500) / 1000);
    record_text(out, "text", s->text);
    record_name(out, "notes");
    buf_push_char(out, '[');
    for (size_t k = 0; k < s->note_count; k++) {
        validation_report_push_list(out, k);
        record_open(out);
        record_text(out, "status", validate_status_name(s->notes[k].status));
        record_text(out, "text", s->notes[k].text);
        record_text(out, "remedy", s->notes[k].remedy);
        record_close(out);
    }
    buf_push_char(out, ']');
    record_int(out, "more", (int64_t)s->notes_left_out);
    record_close(out);
}

static void validation_report_record_share(struct buf *out, const char *name, double value)
{
    record_name(out, name);
    buf_printf(out, "%.6f", value);
}

static void validation_report_push_neighbours(struct buf *out, const struct validate_figures *f)
{
    record_name(out, "vectors");
    buf_push_char(out, '[');
    for (size_t i = 0; i < f->neighbour_count; i++) {
        const struct validate_neighbours *n = &f->neighbours[i];
        validation_report_push_list(out, i);
        record_open(out);
        record_text(out, "field", n->field);
        record_int(out, "vectors", (int64_t)n->vectors);
        record_int(out, "asked", (int64_t)n->asked);
        record_int(out, "itself", (int64_t)n->itself);
        if (n->recall >= 0) {
            validation_report_record_share(out, "recall", n->recall);
        }
        record_close(out);
    }
    buf_push_char(out, ']');
}

static void validation_report_push_judged(struct buf *out, const struct validate_figures *f)
{
    record_name(out, "judged");
    buf_push_char(out, '[');
    for (size_t i = 0; i < f->judged_count; i++) {
        validation_report_push_list(out, i);
        record_open(out);
        record_text(out, "search", f->judged[i].name);
        validation_report_record_share(out, "ndcg", f->judged[i].ndcg);
        validation_report_record_share(out, "min_ndcg", f->judged[i].least);
        record_close(out);
    }
    buf_push_char(out, ']');
}

static void validation_report_record_compared(struct buf *out, const struct validate_figures *f)
{
    record_name(out, "compared");
    buf_push_char(out, '[');
    for (size_t i = 0; i < f->compared_count; i++) {
        const struct validate_compared *c = &f->compared[i];
        validation_report_push_list(out, i);
        record_open(out);
        record_text(out, "search", c->name);
        record_text(out, "verdict", validate_verdict_name(c->verdict));
        if (c->ndcg >= 0) {
            validation_report_record_share(out, "ndcg", c->ndcg);
            validation_report_record_share(out, "other_ndcg", c->other_ndcg);
        }
        record_int(out, "differ", (int64_t)c->differ);
        record_int(out, "place", (int64_t)c->place);
        record_close(out);
    }
    buf_push_char(out, ']');
}

static void validation_report_push_figures(struct buf *out, const struct validate_figures *f)
{
    record_name(out, "figures");
    record_open(out);
    record_int(out, "rows", f->rows);
    record_bool(out, "rows_exact", f->rows_exact);
    record_int(out, "sampled", (int64_t)f->sampled);
    record_int(out, "indexed", (int64_t)f->indexed);
    record_name(out, "strata");
    record_open(out);
    for (int i = 0; i < STRATUM_COUNT; i++) {
        record_int(out, sample_stratum_name((enum stratum)i), (int64_t)f->strata[i]);
    }
    record_close(out);
    record_int(out, "searches", (int64_t)f->relevance.asked);
    record_int(out, "searches_found", (int64_t)f->relevance.found);
    record_int(out, "k", f->k);
    validation_report_record_share(
        out, "mrr", f->relevance.asked > 0 ? f->relevance.sum / (double)f->relevance.asked : 0);
    if (f->judged_count > 0) {
        validation_report_record_share(out, "ndcg", validate_mean_ndcg(f));
    }
    validation_report_push_judged(out, f);
    validation_report_record_compared(out, f);
    validation_report_push_neighbours(out, f);
    record_int(out, "json_bytes", f->json_bytes);
    record_int(out, "stored_bytes", f->stored_bytes);
    record_int(out, "sent_documents", f->sent.documents);
    record_int(out, "sent_microseconds", f->sent.took_us);
    record_int(out, "copies", f->copies);
    record_int(out, "whole_bytes", f->whole_bytes);
    record_int(out, "whole_milliseconds", f->whole_ms);
    record_int(out, "room_bytes", f->room_bytes);
    record_close(out);
}

void validation_report_push_json(struct buf *out, const struct validation_report *v)
{
    record_open(out);
    record_text(out, "pipeline", v->pipeline);
    record_text(out, "index", v->report->index);
    record_text(out, "product", product_name(v->report->product.product));
    record_text(out, "version", v->report->product.version);
    record_name(out, "steps");
    buf_push_char(out, '[');
    for (size_t i = 0; i < v->report->step_count; i++) {
        validation_report_push_list(out, i);
        validation_report_push_step(out, &v->report->steps[i]);
    }
    buf_push_char(out, ']');
    validation_report_push_figures(out, &v->report->figures);
    record_text(out, "error", v->err != NULL ? v->err->message : NULL);
    record_bool(out, "ok", v->code == EXIT_DONE);
    record_int(out, "exit_code", v->code);
    record_close(out);
    buf_push_char(out, '\n');
}
