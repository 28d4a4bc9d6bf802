/* SPDX-License-Identifier: Apache-2.0 */
/* Decides if a text is searched by words, as a whole, or both. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "propose/propose_private.h"
#include "rowferry/base/units.h"

#define CODE_CHARACTERS 16 /* a column whose texts are never longer is a code */
#define FEW_VALUES 1000
#define FEW_SHARE 0.02
#define WORD_BYTES 100 /* longer texts are prose, even without blanks */
#define TITLE_BYTES 80
#define BLANKS_SHARE 0.05

/* Returns the declared length (20 for "character varying(20)"), or 0. */
static int64_t propose_text_declared_length(const struct column *c)
{
    while (column_is_array(c)) {
        c = &c->parts[0];
    }
    const char *open = strchr(c->declared, '(');
    if (strcmp(c->type, "name") == 0) {
        return 63;
    }
    return open != NULL ? strtoll(open + 1, NULL, 10) : 0;
}

static void propose_text_set_keyword(struct proposed *out, int64_t length,
                                     const struct proposer *how)
{
    if (how->is_key || (length > 0 && length <= PROPOSE_WORD_BYTES)) {
        propose_set(out, "\"type\": \"keyword\"");
    } else {
        propose_set(out, "\"type\": \"keyword\", \"ignore_above\": %d", PROPOSE_WORD_BYTES);
    }
}

void propose_text_both(struct proposed *out)
{
    propose_set(out, "\"type\": \"text\",\n\"fields\": { \"keyword\": { \"type\": \"keyword\", "
                     "\"ignore_above\": 256 } }");
    out->fields = 2;
}

static bool propose_text_has_few(const struct column_facts *f)
{
    return f->distinct > 0 ? f->distinct <= FEW_VALUES
                           : f->distinct < 0 && -f->distinct <= FEW_SHARE;
}

static bool propose_text_has_blanks(const struct column_facts *f)
{
    return (double)f->words > BLANKS_SHARE * (double)f->sampled;
}

static void propose_text_report_width(struct proposed *out, const struct column_facts *f)
{
    propose_note(out, ", %.0f byte%s on average", f->width, f->width >= 1.5 ? "s" : "");
}

static void propose_text_by_statistics(struct proposed *out, const struct column_facts *f,
                                       int64_t length, const struct proposer *how)
{
    char n[UNITS_BYTES];
    bool prose = f->width > WORD_BYTES || f->longest > PROPOSE_WORD_BYTES;
    if (!prose && propose_text_has_few(f)) {
        propose_text_set_keyword(out, length, how);
        if (f->distinct > 0) {
            propose_note(out, ", %s different value%s", units_count(n, (int64_t)f->distinct),
                         f->distinct >= 1.5 ? "s" : "");
        } else {
            propose_note(out, ", few different values");
        }
    } else if (!prose && !propose_text_has_blanks(f)) {
        propose_text_set_keyword(out, length, how);
        propose_note(out, ", without blanks");
        propose_text_report_width(out, f);
    } else if (!prose && f->width <= TITLE_BYTES) {
        propose_text_both(out);
        propose_note(out, ", words");
        propose_text_report_width(out, f);
    } else {
        propose_set(out, "\"type\": \"text\"");
        propose_note(out, ", prose");
        propose_text_report_width(out, f);
    }
}

/* For an array the statistics describe the whole array, and its elements are mostly tags. */
static void propose_text_elements(struct proposed *out, const struct column_facts *f,
                                  int64_t length, const struct proposer *how)
{
    if (f->longest > 1024 || (f->longest > 256 && propose_text_has_blanks(f))) {
        propose_set(out, "\"type\": \"text\"");
        propose_note(out, ", long elements");
    } else {
        propose_text_set_keyword(out, length, how);
    }
}

void propose_text(struct proposed *out, const struct column *c, const struct column_facts *f,
                  const struct proposer *how)
{
    int64_t length = propose_text_declared_length(c);
    if (how->is_key || (length > 0 && length <= CODE_CHARACTERS)) {
        propose_text_set_keyword(out, length, how);
    } else if (column_is_array(c)) {
        propose_text_elements(out, f, length, how);
    } else if (!f->analysed) {
        propose_text_both(out);
        propose_note(out, ", no statistics: both ways");
    } else {
        propose_text_by_statistics(out, f, length, how);
    }
}
