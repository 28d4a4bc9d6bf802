/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the mapping as created, and what its analysis makes of the rows' texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/document/mapping/mapdiff.h"
#include "validate/validate_private.h"

#define TEXTS 3 /* per field */
#define WORDS 3 /* per text */
#define CHARACTERS 400

#define MAPPING_BYTES ((size_t)8 << 20)

/* --- mapping --------------------------------------------------------------------------------- */

static int validate_analysis_compare_mapping(struct validating *v, size_t *differ, struct err *err)
{
    struct buf sent;
    struct buf live;
    struct mapdiff diff = {0};
    buf_init(&sent, MAPPING_BYTES);
    buf_init(&live, MAPPING_BYTES);
    mapping_write(&sent, v->options->mapping, NULL);
    int rc = index_mapping(v->ports->service, v->trial.index, &live, err);
    if (rc == 0) {
        rc = mapdiff_make(&diff, buf_text(&sent), buf_text(&live), err);
    }
    for (size_t i = 0; rc == 0 && i < diff.count; i++) {
        struct buf line;
        buf_init(&line, VALIDATE_TEXT_BYTES);
        mapdiff_describe(&line, &diff.lines[i]);
        bool grown = diff.lines[i].kind == MAPDIFF_REMOVED;
        validate_note(
            v, grown ? VALIDATE_WARN : VALIDATE_FAIL,
            grown ? "write it into to.mappings, or leave \"dynamic\" out of it"
                  : "write it as the service has it, or find the index template that changes it",
            "the index differs from the requested one: %s", buf_text(&line));
        buf_release(&line);
    }
    *differ = rc == 0 ? diff.count : 0;
    if (rc == 0) {
        mapdiff_release(&diff);
    }
    buf_release(&live);
    buf_release(&sent);
    return rc;
}

/* --- analysis -------------------------------------------------------------------------------- */

static bool validate_analysis_all_within(const struct trial_terms *some,
                                         const struct trial_terms *all)
{
    for (size_t i = 0; i < some->count; i++) {
        size_t k = 0;
        while (k < all->count && strcmp(some->items[i], all->items[k]) != 0) {
            k++;
        }
        if (k == all->count) {
            return false;
        }
    }
    return true;
}

struct analysed {
    struct validating *v;
    const char *field;
    char *analyzer; /* for searches; null: the field's analyzer */
    size_t words;
    bool sensitive; /* a note about upper and lower case was added */
    bool lost;      /* a note about a word that is not found was added */
};

static int validate_analysis_terms_of(const struct analysed *a, const char *analyzer,
                                      const char *text, struct trial_terms *out, struct err *err)
{
    return trial_analyze(a->v->ports->service, a->v->trial.index, a->field, analyzer, text, out,
                         err);
}

static void validate_analysis_note_lost(struct analysed *a, const char *word, const char *text,
                                        const struct trial_terms *made)
{
    a->lost = true;
    validate_note(
        a->v, VALIDATE_FAIL,
        "choose an analyzer that cuts the text into words, the same (or one that fits) "
        "for \"search_analyzer\"; or make the property a keyword",
        "field \"%s\": a search for \"%s\" does not find \"%.60s\", of which the analyzer "
        "makes \"%.60s\"%s",
        a->field, word, text, made->count > 0 ? made->items[0] : "", made->count > 1 ? ", .." : "");
}

static void validate_analysis_add_case(struct analysed *a, const char *word, const char *text,
                                       const struct trial_terms *sought,
                                       enum validate_status status)
{
    char asked[300];
    char expected[128];
    struct buf terms;
    buf_init(&terms, VALIDATE_TEXT_BYTES);
    for (size_t i = 0; i < sought->count; i++) {
        buf_printf(&terms, "%s%s", i > 0 ? ", " : "", sought->items[i]);
    }
    snprintf(asked, sizeof(asked), "%.150s: %.120s", a->field, word);
    snprintf(expected, sizeof(expected), "in \"%.60s\"", text);
    validate_case(a->v, status, asked, expected,
                  sought->count == 0        ? "the analyzer drops this word"
                  : status == VALIDATE_PASS ? "found, as %s"
                                            : "not found, as %s",
                  buf_text(&terms));
    buf_release(&terms);
}

/* Tries a word as it is, then in lower case. Skips a word that the analyzer drops completely. */
static int validate_analysis_try_word(struct analysed *a, char *word, const char *text,
                                      const struct trial_terms *made, struct err *err)
{
    int rc = 0;
    for (int turn = 0; turn < 2 && rc == 0 && !a->lost; turn++) {
        struct trial_terms sought;
        rc = validate_analysis_terms_of(a, a->analyzer, word, &sought, err);
        bool found = rc < 0 || validate_analysis_all_within(&sought, made);
        if (rc == 0 && (turn == 0 || !found)) {
            validate_analysis_add_case(a, word, text, &sought,
                                       found       ? VALIDATE_PASS
                                       : turn == 0 ? VALIDATE_FAIL
                                                   : VALIDATE_WARN);
        }
        if (!found && turn == 0) {
            validate_analysis_note_lost(a, word, text, made);
        } else if (!found && !a->sensitive) {
            a->sensitive = true;
            validate_note(a->v, VALIDATE_WARN,
                          "give the analyzer a \"lowercase\" filter, unless this is intended",
                          "field \"%s\": a search for \"%s\" does not find \"%.60s\"", a->field,
                          word, text);
        }
        trial_terms_release(&sought);
        for (char *c = word; *c != '\0'; c++) {
            *c = ascii_lower(*c);
        }
    }
    a->words++;
    return rc;
}

static int validate_analysis_try_text(struct analysed *a, const char *text, struct err *err)
{
    struct trial_terms made;
    struct span word;
    size_t at = 0;
    int rc = validate_analysis_terms_of(a, NULL, text, &made, err);
    for (size_t i = 0; i < WORDS && rc == 0 && !a->lost && judge_word(text, &at, &word); i++) {
        bool cut = text[at] == '\0' && strlen(text) >= CHARACTERS;
        char *copy = text_copy_span(word);
        rc = cut ? 0 : validate_analysis_try_word(a, copy, text, &made, err);
        free(copy);
    }
    trial_terms_release(&made);
    return rc;
}

static int validate_analysis_analyse_field(struct validating *v, const struct plan_step *step,
                                           size_t *words, struct err *err)
{
    struct known_texts known;
    struct analysed a = {.v = v, .field = step->property};
    int rc = validate_texts_load(v, step, CHARACTERS, TEXTS, &known, err);
    a.analyzer = mapping_parameter(v->options->mapping, step->property, "search_analyzer");
    for (size_t i = 0; i < known.count && rc == 0; i++) {
        rc = validate_analysis_try_text(&a, known.texts[i], err);
    }
    validate_texts_release(&known);
    free(a.analyzer);
    *words += a.words;
    return rc;
}

int validate_analysis(struct validating *v, struct err *err)
{
    size_t fields = 0;
    size_t words = 0;
    const struct plan *plan = sample_plan(v->sample);
    size_t differ;
    int rc = validate_analysis_compare_mapping(v, &differ, err);
    for (size_t i = 0; i < plan->count && rc == 0; i++) {
        const struct property *p = mapping_find(v->options->mapping, plan->steps[i].property);
        bool text = p != NULL && validate_searches_words(v, p);
        fields += text ? 1 : 0;
        rc = text ? validate_analysis_analyse_field(v, &plan->steps[i], &words, err) : 0;
    }
    if (rc == 0) {
        validate_set_result(v, "the mapping is %s; %zu text fields, %zu words of them analysed",
                            differ == 0 ? "the requested one" : "not the requested one", fields,
                            words);
    }
    return rc;
}
