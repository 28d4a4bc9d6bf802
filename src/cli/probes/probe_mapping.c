/* SPDX-License-Identifier: Apache-2.0 */
/* check: each property of the mapping against its column, and fields whose type would be
 * guessed. */
#include <stdlib.h>
#include <string.h>

#include "probes/probe.h"
#include "rowferry/service/trial/trial.h"

#define NAMES_MAX_BYTES ((size_t)1 << 20)
#define MAPPING_MAX_BYTES ((size_t)16 << 20)

/* Separators between a note and its remedy. */
static const char *const note_remedies[] = {": a column of type ", ": give it ", ": name it in "};

/* Returns the start of the remedy in `text`, or the end of the text. */
static const char *probe_mapping_remedy_of(const char *text)
{
    for (size_t i = 0; i < sizeof(note_remedies) / sizeof(note_remedies[0]); i++) {
        const char *at = strstr(text, note_remedies[i]);
        if (at != NULL) {
            return at;
        }
    }
    return text + strlen(text);
}

static bool probe_mapping_same_loss(const struct plan_note *a, const struct plan_note *b)
{
    return a->loss != NULL && b->loss != NULL && strcmp(a->loss, b->loss) == 0;
}

/* A loss of several properties is reported once, with the first of them. */
static bool probe_mapping_said_before(const struct plan_notes *notes, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (probe_mapping_same_loss(&notes->items[j], &notes->items[i])) {
            return true;
        }
    }
    return false;
}

static void probe_mapping_report_loss(struct check *c, const struct plan_notes *notes, size_t first,
                                      const char *remedy)
{
    size_t count = 0;
    enum verdict verdict = notes->items[first].slight ? VERDICT_INFO : VERDICT_WARN;
    struct buf names;
    buf_init(&names, NAMES_MAX_BYTES);
    for (size_t i = first; i < notes->count; i++) {
        if (probe_mapping_same_loss(&notes->items[first], &notes->items[i])) {
            buf_printf(&names, "%s\"%s\"", count++ > 0 ? ", " : "", notes->items[i].property);
        }
    }
    if (count > 1) {
        check_report(c, verdict, remedy, "properties %s: %s", buf_text(&names),
                     notes->items[first].loss);
    } else {
        check_report(c, verdict, remedy, "%s", notes->items[first].text);
    }
    buf_release(&names);
}

/* `remedy` belongs to the first error; null if none. The remedy of a loss is printed once. */
static void probe_mapping_report_notes(struct check *c, const struct plan_notes *notes,
                                       const char *remedy)
{
    const char *loss = "if it matters, choose another type: docs/types.md says what each holds";
    for (size_t i = 0; i < notes->count; i++) {
        const char *text = notes->items[i].text;
        if (notes->items[i].error) {
            const char *end = probe_mapping_remedy_of(text);
            check_report(c, VERDICT_FAIL, *end != '\0' ? end + strlen(": ") : remedy, "%.*s",
                         (int)(end - text), text);
            remedy = NULL;
        } else if (!probe_mapping_said_before(notes, i)) {
            probe_mapping_report_loss(c, notes, i, loss);
            loss = NULL;
        }
    }
}

static bool probe_mapping_notes_have_error(const struct plan_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        if (notes->items[i].error) {
            return true;
        }
    }
    return false;
}

int check_plan(const struct check *c, struct check_plan *out, struct err *err)
{
    const struct pipeline_config *p = c->pipeline;
    struct plan_input in = {.mapping = &out->mapping,
                            .columns = &c->table->columns,
                            .fields = p->fields,
                            .field_count = p->field_count,
                            .document_bytes = (size_t)p->limits.document_bytes};
    *out = (struct check_plan){0};
    int rc = config_mapping(p, &out->mapping, err);
    return rc == 0 ? plan_compile(&out->plan, &in, &out->notes, err) : rc;
}

void probe_mapping_plan_release(struct check_plan *p)
{
    plan_release(&p->plan);
    plan_notes_release(&p->notes);
    mapping_release(&p->mapping);
}

static void probe_mapping(struct check *c)
{
    struct err err;
    struct check_plan p;
    int rc = check_plan(c, &p, &err);
    if (rc == 0) {
        rc = catalog_check_zones(c->pg, p.plan.zones, p.plan.column_count, &err);
    }
    if (rc < 0 && !probe_mapping_notes_have_error(&p.notes)) {
        check_fail(c, &err);
    } else if (rc == 0) {
        check_pass(c, "%zu propert%s filled from %zu column%s", p.plan.count,
                   p.plan.count == 1 ? "y" : "ies", p.plan.column_count,
                   p.plan.column_count == 1 ? "" : "s");
    }
    probe_mapping_report_notes(c, &p.notes, rc < 0 && err.hint[0] != '\0' ? err.hint : NULL);
    probe_mapping_plan_release(&p);
}

static bool probe_mapping_guesses(const char *dynamic)
{
    return dynamic != NULL && (strcmp(dynamic, "true") == 0 || strcmp(dynamic, "runtime") == 0);
}

static void probe_mapping_report_guessing(struct check *c, const struct property *list,
                                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (probe_mapping_guesses(list[i].dynamic)) {
            check_report(c, VERDICT_WARN, NULL,
                         "members of \"%s\" get the type that their first value suggests",
                         list[i].name);
            check_remedy(c, "name them in its \"properties\" and leave \"dynamic\" out, or let it "
                            "be \"enabled\": false or flattened");
        }
        probe_mapping_report_guessing(c, list[i].children, list[i].child_count);
    }
}

/* With dynamic mapping, the first document determines the type for all others, as when a number was
 * once a text. */
static void probe_mapping_dynamic(struct check *c)
{
    struct err err;
    struct mapping mapping = {0};
    size_t before = c->count;
    if (config_mapping(c->pipeline, &mapping, &err) < 0) {
        check_fail(c, &err);
    } else if (probe_mapping_guesses(mapping.dynamic)) {
        check_report(
            c, VERDICT_WARN, "leave \"dynamic\" out of to.mappings: then it is strict",
            "to.mappings lets the service guess the types of fields that it does not name");
    }
    probe_mapping_report_guessing(c, mapping.properties, mapping.count);
    if (c->count == before) {
        check_pass(c, "the service guesses no field's type");
    }
    mapping_release(&mapping);
}

/* --- a throw-away index ------------------------------------------------------------------------
 */

/* Returns true if the live index was built from this mapping, so the service accepts it. */
static bool probe_mapping_is_live(const struct check *c, const struct mapping *m)
{
    struct checkpoint checkpoint = {0};
    struct err ignored;
    char fingerprint[17];
    bool live = false;
    mapping_fingerprint(fingerprint, m);
    bool same = probe_live_read(c, &checkpoint, &live, &ignored) == 0 && live &&
                checkpoint.mapping_fingerprint != NULL &&
                strcmp(checkpoint.mapping_fingerprint, fingerprint) == 0;
    checkpoint_release(&checkpoint);
    return same;
}

/* Returns what the creation of an index with this mapping returns; removes the index. */
static int probe_mapping_create(struct check *c, const struct mapping *m, struct trial *t,
                                struct err *err)
{
    struct clock clock = clock_system();
    struct buf mappings;
    int rc =
        trial_name(t, c->pipeline->name, c->pipeline->to.index, "check", clock_random(&clock), err);
    if (rc < 0) {
        return rc;
    }
    buf_init(&mappings, MAPPING_MAX_BYTES);
    trial_push_mappings(&mappings, t, m);
    t->asked = true;
    rc = index_create(c->session.service, t->index, buf_text(&mappings), c->pipeline->to.settings,
                      err);
    struct err unremoved;
    if (trial_remove(c->session.service, t, &unremoved) < 0) {
        check_report(c, VERDICT_WARN, NULL, "the index \"%s\" of this check may still exist: %s",
                     t->index, unremoved.message);
        check_remedy(c, "DELETE /%s", t->index);
    }
    buf_release(&mappings);
    return rc;
}

/* Only the service knows its analyzers, settings and limits. The live index shows that it accepts a
 * mapping; otherwise an index is created and removed at once. */
static void probe_mapping_try(struct check *c)
{
    struct err err;
    struct mapping mapping = {0};
    struct trial trial = {0};
    int rc = config_mapping(c->pipeline, &mapping, &err);
    if (rc == 0 && c->pipeline->to.kind == INDEX_KIND_DATA_STREAM) {
        check_report(c, VERDICT_SKIP, NULL, "not tried with a data stream");
    } else if (rc == 0 && probe_mapping_is_live(c, &mapping)) {
        check_pass(c, "the live index was built from this mapping");
    } else if (rc == 0) {
        rc = probe_mapping_create(c, &mapping, &trial, &err);
        if (rc == 0) {
            check_pass(c, "the service created an index with this mapping, which was removed");
        }
    }
    if (rc < 0 && (err.http_status == 403 || err.http_status == 401)) {
        check_report(c, VERDICT_WARN, NULL, "could not be tried: %s", err.message);
        check_remedy(c, "rowferry validate %s tries it with rows", c->pipeline->name);
    } else if (rc == ERR_TRANSIENT) {
        check_report(c, VERDICT_SKIP, NULL, "could not be tried: %s", err.message);
    } else if (rc < 0) {
        err.detail[0] = '\0'; /* the whole answer, whose reason the message has */
        check_fail_else(c, &err, "correct to.mappings or to.settings");
    }
    mapping_release(&mapping);
}

const struct probe probes_mapping[] = {
    {"mapping", FACT_TABLE, FACT_PLAN, probe_mapping},
    {"acceptance", FACT_SERVICE | FACT_RIGHTS | FACT_PLAN, 0, probe_mapping_try},
    {"guessing", 0, 0, probe_mapping_dynamic},
    {0},
};
