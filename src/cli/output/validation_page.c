/* SPDX-License-Identifier: Apache-2.0 */
/* Renders the findings of a trial as a self-contained page, including its plots. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "output/validation_report.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/units.h"

#define BARS_MOST 32
#define PLOT_WIDTH 360.0
#define PLOT_HEIGHT 132.0
#define PLOT_TOP 18.0
#define LABEL_BYTES 40
#define SUBJECT_BYTES ((size_t)64 << 10)
#define MARK '~'

/* Appends foreign text, escaped as on a terminal and for HTML. */
static void validation_page_push_escaped(struct buf *out, const char *text)
{
    size_t used;
    for (size_t len = strlen(text); len > 0; text += used, len -= used) {
        char escaped[TEXT_ESCAPED_BYTES];
        size_t n = text_escape_character(escaped, text, len, &used);
        if (strchr("<>&\"'\\", *text) != NULL) {
            buf_printf(out, "&#%d;", *text);
        } else {
            buf_push(out, escaped, n);
        }
    }
}

static void validation_page_push_element(struct buf *out, const char *open, const char *text,
                                         const char *close)
{
    buf_push_text(out, open);
    validation_page_push_escaped(out, text);
    buf_push_text(out, close);
}

static const char *validation_page_tone_of(enum validate_status s)
{
    static const char *const tones[] = {"well", "calm", "care", "bad"};
    return tones[s];
}

/* --- plots ------------------------------------------------------------------------------------ */

struct bar {
    char label[LABEL_BYTES]; /* below the bar */
    char value[LABEL_BYTES]; /* above the bar */
    double size;
    const char *tone; /* null for the default */
};

struct plot {
    const char *title;
    const char *about; /* meaning of the bars */
    struct bar bars[BARS_MOST];
    size_t count;
};

static struct bar *validation_page_add_bar(struct plot *p, double size)
{
    struct bar *b = &p->bars[p->count < BARS_MOST ? p->count++ : BARS_MOST - 1];
    *b = (struct bar){.size = size};
    return b;
}

static double validation_page_largest_of(const struct plot *p)
{
    double most = 0;
    for (size_t i = 0; i < p->count; i++) {
        most = p->bars[i].size > most ? p->bars[i].size : most;
    }
    return most > 0 ? most : 1;
}

static void validation_page_push_bar(struct buf *out, const struct bar *b, double x, double width,
                                     double most)
{
    double height = b->size / most * (PLOT_HEIGHT - PLOT_TOP);
    double top = PLOT_HEIGHT - (height < 1 && b->size > 0 ? 1 : height);
    double middle = x + width / 2;
    buf_printf(out,
               "<rect class=\"bar\" data-tone=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
               "height=\"%.1f\" rx=\"1.5\"/>",
               b->tone != NULL ? b->tone : "busy", x + width * 0.12, top, width * 0.76,
               PLOT_HEIGHT - top);
    buf_printf(out, "<text class=\"figure\" x=\"%.1f\" y=\"%.1f\">%s</text>", middle, top - 4,
               b->value);
    buf_printf(out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", middle, PLOT_HEIGHT + 13);
    validation_page_push_escaped(out, b->label);
    buf_push_literal(out, "</text>");
}

/* Appends bars side by side; nothing if there are none. */
static void validation_page_push_plot(struct buf *out, const struct plot *p)
{
    if (p->count == 0) {
        return;
    }
    double most = validation_page_largest_of(p);
    double width = PLOT_WIDTH / (double)(p->count > 6 ? p->count : 6);
    buf_printf(out,
               "<figure><figcaption><b>%s</b> %s</figcaption><svg role=\"img\" aria-label=\"%s\" "
               "viewBox=\"0 0 %.0f %.0f\">",
               p->title, p->about, p->title, PLOT_WIDTH, PLOT_HEIGHT + 20);
    buf_printf(out, "<line class=\"base\" x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>",
               PLOT_WIDTH, PLOT_HEIGHT, PLOT_HEIGHT);
    for (size_t i = 0; i < p->count; i++) {
        validation_page_push_bar(out, &p->bars[i], width * (double)i, width, most);
    }
    buf_push_literal(out, "</svg></figure>\n");
}

static void validation_page_plot_steps(struct buf *out, const struct validate_report *r)
{
    struct plot p = {.title = "Time", .about = "of each step, ms"};
    for (size_t i = 0; i < r->step_count; i++) {
        const struct validate_step *s = &r->steps[i];
        struct bar *b = validation_page_add_bar(&p, (double)s->took_us);
        snprintf(b->label, sizeof(b->label), "%s", s->name);
        snprintf(b->value, sizeof(b->value), "%.0f", (double)s->took_us / 1000);
        b->tone = validation_page_tone_of(s->status);
    }
    validation_page_push_plot(out, &p);
}

static void validation_page_plot_sizes(struct buf *out, const struct validate_figures *f)
{
    struct plot p = {.title = "Documents", .about = "by the bytes of their JSON, less than"};
    size_t first = 0;
    size_t last = VALIDATE_SIZES;
    while (first < VALIDATE_SIZES && f->sizes[first] == 0) {
        first++;
    }
    while (last > first && f->sizes[last - 1] == 0) {
        last--;
    }
    for (size_t i = first; i < last; i++) {
        char size[UNITS_BYTES];
        struct bar *b = validation_page_add_bar(&p, (double)f->sizes[i]);
        units_size(size, (int64_t)2 << i);
        snprintf(b->label, sizeof(b->label), "%s", size);
        snprintf(b->value, sizeof(b->value), "%zu", f->sizes[i]);
    }
    validation_page_push_plot(out, &p);
}

static void validation_page_plot_strata(struct buf *out, const struct validate_figures *f)
{
    struct plot p = {.title = "Rows", .about = "by why they were chosen"};
    for (int i = 0; f->sampled > 0 && i < STRATUM_COUNT; i++) {
        struct bar *b = validation_page_add_bar(&p, (double)f->strata[i]);
        snprintf(b->label, sizeof(b->label), "%s", sample_stratum_name((enum stratum)i));
        snprintf(b->value, sizeof(b->value), "%zu", f->strata[i]);
    }
    validation_page_push_plot(out, &p);
}

static void validation_page_plot_ranks(struct buf *out, const struct validate_figures *f)
{
    struct plot p = {.title = "Relevance", .about = "rank of the expected hit"};
    const struct relevance *r = &f->relevance;
    size_t last = r->asked > 0 ? 3 : 0;
    for (size_t i = 0; i < RELEVANCE_RANKS; i++) {
        last = r->at[i] > 0 && i + 1 > last ? i + 1 : last;
    }
    for (size_t i = 0; i < last; i++) {
        struct bar *b = validation_page_add_bar(&p, (double)r->at[i]);
        snprintf(b->label, sizeof(b->label), "%zu%s", i + 1, i + 1 == RELEVANCE_RANKS ? "+" : "");
        snprintf(b->value, sizeof(b->value), "%zu", r->at[i]);
        b->tone = i == 0 ? "well" : NULL;
    }
    if (last > 0) {
        struct bar *b = validation_page_add_bar(&p, (double)(r->asked - r->found));
        snprintf(b->label, sizeof(b->label), "none");
        snprintf(b->value, sizeof(b->value), "%zu", r->asked - r->found);
        b->tone = "bad";
    }
    validation_page_push_plot(out, &p);
}

static void validation_page_plot_bulks(struct buf *out, const struct validate_figures *f)
{
    struct plot p = {.title = "Indexing", .about = "documents/s of each bulk request"};
    for (size_t i = 0; i < f->bulk_count && i < 16; i++) {
        const struct validate_bulk *k = &f->bulks[i];
        double rate = k->took_us > 0 ? (double)k->documents * 1000000 / (double)k->took_us : 0;
        struct bar *b = validation_page_add_bar(&p, rate);
        snprintf(b->label, sizeof(b->label), "%zu", i + 1);
        snprintf(b->value, sizeof(b->value), "%.0f", rate);
    }
    validation_page_push_plot(out, &p);
}

static void validation_page_bar_of_bytes(struct plot *p, const char *label, double bytes,
                                         const char *tone)
{
    char size[UNITS_BYTES];
    struct bar *b = validation_page_add_bar(p, bytes);
    snprintf(b->label, sizeof(b->label), "%s", label);
    snprintf(b->value, sizeof(b->value), "%s", units_size(size, (int64_t)bytes));
    b->tone = tone;
}

static void validation_page_plot_storage(struct buf *out, const struct validate_figures *f)
{
    struct plot p = {.title = "Storage", .about = "bytes of a random row"};
    if (f->random.documents > 0 && f->stored_bytes > 0) {
        double rows = (double)f->random.documents;
        validation_page_bar_of_bytes(&p, "as JSON", (double)f->random.json_bytes / rows, "calm");
        validation_page_bar_of_bytes(&p, "one copy", (double)f->random.stored_bytes / rows, NULL);
        validation_page_bar_of_bytes(&p, "all copies",
                                     (double)(f->random.stored_bytes * f->copies) / rows, NULL);
    }
    validation_page_push_plot(out, &p);
}

/* Extrapolates linearly from the trial to the whole table. */
static void validation_page_plot_growth(struct buf *out, const struct validate_figures *f)
{
    static const double shares[] = {0.25, 0.5, 0.75, 1};
    struct plot p = {.title = "Growth", .about = "all copies on disk, by rows"};
    char rows[UNITS_BYTES];
    if (f->whole_bytes > 0) {
        validation_page_bar_of_bytes(&p, units_count(rows, f->random.documents),
                                     (double)(f->random.stored_bytes * f->copies), "calm");
    }
    for (size_t i = 0; f->whole_bytes > 0 && i < sizeof(shares) / sizeof(shares[0]); i++) {
        double bytes = shares[i] * (double)f->whole_bytes;
        bool over = f->room_bytes >= 0 && bytes > (double)f->room_bytes;
        validation_page_bar_of_bytes(&p, units_count(rows, (int64_t)(shares[i] * (double)f->rows)),
                                     bytes, over ? "bad" : NULL);
    }
    validation_page_push_plot(out, &p);
}

static void validation_page_plot_vectors(struct buf *out, const struct validate_figures *f)
{
    struct plot p = {.title = "Vectors", .about = "share of the nearest that is found"};
    for (size_t i = 0; i < f->neighbour_count && i < 8; i++) {
        const struct validate_neighbours *n = &f->neighbours[i];
        if (n->recall >= 0) {
            struct bar *b = validation_page_add_bar(&p, n->recall);
            snprintf(b->label, sizeof(b->label), "%.*s", LABEL_BYTES - 1, n->field);
            snprintf(b->value, sizeof(b->value), "%.3f", n->recall);
        }
    }
    validation_page_push_plot(out, &p);
}

/* --- sections --------------------------------------------------------------------------------- */

static void validation_page_push_fact(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "<div class=\"fact\"><dt>%s</dt><dd>", name);
    validation_page_push_element(out, "", value, "</dd></div>");
}

/* What was compared with what, and when. */
static void validation_page_push_subject(struct buf *out, const struct validation_report *v)
{
    struct buf text;
    char at[CLOCK_ISO_BYTES];
    const struct validation_subject *s = v->subject;
    const struct product_info *product = &v->report->product;
    buf_init(&text, SUBJECT_BYTES);
    buf_printf(&text, "%s%s%s", strchr(s->table, '.') == NULL ? "public." : "", s->table,
               s->query ? ", through from.query" : "");
    validation_page_push_fact(out, "table", buf_text(&text));
    validation_page_push_fact(out, "source", s->source);
    validation_page_push_fact(out, "index", s->alias);
    buf_reset(&text);
    if (product->product != PRODUCT_UNKNOWN) {
        buf_printf(&text, "%s%s%s%s at ", product_name(product->product),
                   product->version[0] != '\0' ? " " : "", product->version,
                   product->stand_in ? " (a stand-in)" : "");
    }
    buf_push_text(&text, s->service);
    validation_page_push_fact(out, "service", buf_text(&text));
    clock_iso(at, v->wall_us, 0);
    buf_reset(&text);
    buf_printf(&text, "%.10s %.8s UTC", at, at + 11);
    validation_page_push_fact(out, "ended", buf_text(&text));
    buf_release(&text);
}

static void validation_page_push_facts(struct buf *out, const struct validation_report *v)
{
    char text[128];
    char count[UNITS_BYTES];
    const struct validate_report *r = v->report;
    validation_page_push_fact(out, "took", units_duration(count, v->took_us / 1000));
    validation_page_push_fact(out, "rows tried", units_count(count, (int64_t)r->figures.sampled));
    snprintf(text, sizeof(text), "%s%s", r->figures.rows_exact ? "" : "about ",
             r->figures.rows >= 0 ? units_count(count, r->figures.rows) : "unknown");
    validation_page_push_fact(out, "rows in all", text);
    snprintf(text, sizeof(text), "%.3f",
             r->figures.relevance.asked > 0
                 ? r->figures.relevance.sum / (double)r->figures.relevance.asked
                 : 0);
    validation_page_push_fact(out, "MRR", r->figures.relevance.asked > 0 ? text : "not asked");
    if (r->figures.judged_count > 0) {
        snprintf(text, sizeof(text), "%.3f", validate_mean_ndcg(&r->figures));
        validation_page_push_fact(out, "nDCG@10", text);
    }
    if (r->figures.whole_bytes > 0) {
        validation_page_push_fact(out, "all rows on disk",
                                  units_size(count, r->figures.whole_bytes));
        validation_page_push_fact(out, "load, one bulk at a time",
                                  units_duration(count, r->figures.whole_ms));
    }
}

static void validation_page_push_more(struct buf *out, size_t left_out)
{
    if (left_out > 0) {
        buf_printf(out, "<p class=\"note\">and %zu more</p>", left_out);
    }
}

static void validation_page_push_notes(struct buf *out, const struct validate_step *s)
{
    for (size_t i = 0; i < s->note_count; i++) {
        const struct validate_note *n = &s->notes[i];
        buf_printf(out, "<p class=\"note item\" data-tone=\"%s\">",
                   validation_page_tone_of(n->status));
        validation_page_push_element(out, "<b>", n->text, "</b>");
        if (n->remedy != NULL) {
            validation_page_push_element(out, "<span class=\"remedy\">", n->remedy, "</span>");
        }
        buf_push_literal(out, "</p>");
    }
    validation_page_push_more(out, s->notes_left_out);
}

static void validation_page_push_cases(struct buf *out, const struct validate_step *s)
{
    if (s->case_count == 0) {
        return;
    }
    buf_push_literal(out, "<table><thead><tr><th>tried</th><th>expected</th><th>found</th></tr>"
                          "</thead><tbody>\n");
    for (size_t i = 0; i < s->case_count; i++) {
        const struct validate_case *c = &s->cases[i];
        buf_printf(out, "<tr class=\"item\" data-tone=\"%s\">", validation_page_tone_of(c->status));
        validation_page_push_element(out, "<td class=\"mono\">", c->asked, "</td>");
        validation_page_push_element(out, "<td>", c->expected, "</td>");
        validation_page_push_element(out, "<td class=\"found\">", c->found, "</td></tr>\n");
    }
    buf_push_literal(out, "</tbody></table>");
    validation_page_push_more(out, s->cases_left_out);
}

static void validation_page_push_step(struct buf *out, const struct validate_report *r, size_t id)
{
    static const char *const states[] = {"passed", "skipped", "warning", "failed"};
    static const char *const meant[VALIDATE_STEPS] = {
        [VALIDATE_COUNTS] = "Each row must become a document that has all of its values.",
        [VALIDATE_QUERIES] =
            "A search for a known value must find exactly the rows that have the value.",
        [VALIDATE_ANALYSIS] = "A search for a word must find the texts that contain the word.",
        [VALIDATE_FILTER] = "A filter must give the same rows as SQL.",
        [VALIDATE_SORT] = "The documents must have the same order as in SQL.",
        [VALIDATE_RELEVANCE] = "The expected document must be among the first hits.",
        [VALIDATE_VECTORS] = "The nearest neighbour of a vector must be the vector itself.",
        [VALIDATE_SEMANTIC] =
            "A search by meaning, or a combination of searches, must find its documents.",
        [VALIDATE_GROWTH] = "All rows must fit on the disks of the service.",
        [VALIDATE_AGAINST] = "The searches must not be worse than by the other definition.",
    };
    const struct validate_step *s = &r->steps[id];
    buf_printf(out,
               "<li data-tone=\"%s\"><details open><summary><span class=\"state\">%s</span><span "
               "class=\"step\">%s</span><span class=\"words\">%s ",
               validation_page_tone_of(s->status), states[s->status], s->name, meant[id]);
    validation_page_push_element(out, "<b>", s->text != NULL ? s->text : "not tried",
                                 "</b></span>");
    buf_printf(out, "<span class=\"took\">%.0f ms</span></summary>", (double)s->took_us / 1000);
    validation_page_push_notes(out, s);
    validation_page_push_cases(out, s);
    buf_push_literal(out, "</details></li>\n");
}

static void validation_page_push_plots(struct buf *out, const struct validate_report *r)
{
    const struct validate_figures *f = &r->figures;
    buf_push_literal(out, "<div class=\"plots\">\n");
    validation_page_plot_strata(out, f);
    validation_page_plot_sizes(out, f);
    validation_page_plot_bulks(out, f);
    validation_page_plot_storage(out, f);
    validation_page_plot_growth(out, f);
    validation_page_plot_ranks(out, f);
    validation_page_plot_vectors(out, f);
    validation_page_plot_steps(out, r);
    buf_push_literal(out, "</div>");
}

static const char *validation_page_state_of(const struct validation_report *v)
{
    return v->code == EXIT_DONE         ? "ready"
           : v->err == NULL             ? "to be mended"
           : validation_report_tried(v) ? "broken off"
                                        : "not tried";
}

void validation_report_push_section(struct buf *out, const struct validation_report *v)
{
    bool good = v->code == EXIT_DONE;
    buf_printf(out, "<section class=\"pipeline\"><div class=\"head\" data-tone=\"%s\">",
               good ? "well" : "bad");
    validation_page_push_element(out, "<h2>", v->pipeline, "</h2>");
    buf_printf(out, "<span class=\"state\">%s</span></div>\n<dl>", validation_page_state_of(v));
    validation_page_push_subject(out, v);
    if (validation_report_tried(v)) {
        buf_push_literal(out, "</dl>\n<dl class=\"figures\">");
        validation_page_push_facts(out, v);
    }
    buf_push_literal(out, "</dl>\n");
    if (v->err != NULL) {
        validation_page_push_element(out, "<p class=\"why\">", v->err->message, "</p>\n");
    }
    if (validation_report_tried(v)) {
        buf_push_literal(out, "<ol class=\"steps\">\n");
        for (size_t i = 0; i < v->report->step_count; i++) {
            validation_page_push_step(out, v->report, i);
        }
        buf_push_literal(out, "</ol>\n");
        validation_page_push_plots(out, v->report);
    }
    buf_push_literal(out, "</section>\n");
}

static const char verdict_good[] =
    "<p class=\"verdict\" data-tone=\"well\">ready for the initial load</p>";
static const char verdict_bad[] =
    "<p class=\"verdict\" data-tone=\"bad\">to be corrected before the initial load</p>";

/* The marks of the template are ~CONTENT~, ~NONCE~ and ~VERDICT~. */
void validation_report_push_page(struct buf *out, const struct buf *sections, bool good,
                                 uint64_t nonce)
{
    const char *page = embed_text(cli_html, "validate");
    for (const char *mark; (mark = strchr(page, MARK)) != NULL; page = strchr(mark + 1, MARK) + 1) {
        buf_push(out, page, (size_t)(mark - page));
        if (mark[1] == 'C') {
            buf_push(out, buf_text(sections), sections->len);
        } else if (mark[1] == 'N') {
            buf_printf(out, "%016" PRIx64, nonce);
        } else {
            buf_push_text(out, good ? verdict_good : verdict_bad);
        }
    }
    buf_push_text(out, page);
}
