/* SPDX-License-Identifier: Apache-2.0 */
/* Extrapolates from the sample to the whole table. */
#include "rowferry/base/units.h"
#include "rowferry/service/cluster/storage.h"
#include "validate/validate_private.h"

#define TIGHT 0.8 /* share of the free disk space */

static void validate_growth_judge_room(struct validating *v)
{
    const struct validate_figures *f = &v->report->figures;
    char whole[UNITS_BYTES];
    char room[UNITS_BYTES];
    if (f->room_bytes < 0 || (double)f->whole_bytes < TIGHT * (double)f->room_bytes) {
        return;
    }
    validate_note(v, f->whole_bytes > f->room_bytes ? VALIDATE_FAIL : VALIDATE_WARN,
                  "give the nodes more disk, index fewer fields or rows, or keep fewer replicas; a "
                  "rebuild needs room for a second index",
                  "all rows would take about %s, and the fullest node has room for %s",
                  units_size(whole, f->whole_bytes), units_size(room, f->room_bytes));
}

/* Uses only the random rows, because the largest and the emptiest do not represent the table. */
static void validate_growth_extrapolate(struct validate_figures *f)
{
    bool chance = f->random.documents > 0;
    f->whole_bytes = judge_whole(chance ? f->random.stored_bytes : f->stored_bytes,
                                 chance ? f->random.documents : (int64_t)f->indexed, f->rows) *
                     f->copies;
    f->whole_ms = judge_whole(f->sent.took_us, f->sent.documents, f->rows) / 1000;
}

int validate_growth(struct validating *v, struct err *err)
{
    struct validate_figures *f = &v->report->figures;
    struct storage storage = {.room_bytes = -1};
    struct err unseen;
    char whole[UNITS_BYTES];
    char rows[UNITS_BYTES];
    char took[UNITS_BYTES];
    char rate[UNITS_BYTES];
    char copies[UNITS_BYTES];
    int rc = trial_bytes(v->ports->service, v->trial.index, &f->stored_bytes, err);
    if (rc == 0) {
        rc = trial_copies(v->ports->service, v->trial.index, &f->copies, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (storage_look(v->ports->service, v->trial.index, &storage, &unseen) == 0) {
        f->room_bytes = storage.room_bytes;
    }
    validate_growth_extrapolate(f);
    validate_growth_judge_room(v);
    validate_set_result(
        v, "%s documents/s; %s rows would take about %s in %s cop%s, and %s one bulk at a time",
        units_count(rate, f->sent.took_us > 0 ? f->sent.documents * 1000000 / f->sent.took_us : 0),
        units_count(rows, f->rows), units_size(whole, f->whole_bytes),
        units_count(copies, f->copies), f->copies == 1 ? "y" : "ies",
        units_duration(took, f->whole_ms));
    return 0;
}
