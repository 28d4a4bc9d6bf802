/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a generation before it goes live. */
#include <inttypes.h>

#include "rebuild/rebuild_private.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/guard_stop.h"

#define SAMPLE 1000
#define LETTERS_FEW 100
#define LETTERS_SHARE 20 /* one in 20 */
#define SETTLE_MS 0      /* the generation has no other writer, so what waits is not synced yet */

static int rebuild_check_compare(const struct rebuild_job *j, size_t sample,
                                 struct rebuild_result *result, struct err *err)
{
    const struct verify_options options = {.pipeline = &j->filling,
                                           .fields = j->options->fields,
                                           .field_count = j->options->field_count,
                                           .sample = sample,
                                           .rows_only = sample > 0,
                                           .building = true,
                                           .settle_ms = SETTLE_MS,
                                           .stop = j->filling.hooks.stop};
    struct verify_ports ports = *j->ports;
    ports.pipeline = &j->next_ports;
    return verify_run(&options, &ports, &result->checked, err);
}

static int rebuild_check_count_rows(const struct rebuild_job *j, int64_t *rows, struct err *err)
{
    struct pg *pg = NULL;
    struct listing *listing = NULL;
    *rows = -1;
    if (j->ports->listing->query != NULL) {
        return 0; /* counting the rows of a query would mean to run it */
    }
    int rc = pg_open(&pg, j->ports->source, err);
    if (rc == 0) {
        rc = listing_open(&listing, pg, j->ports->listing, err);
    }
    if (rc == 0) {
        rc = listing_count(listing, rows, err);
    }
    listing_free(listing);
    return rc;
}

static int rebuild_check_count(struct rebuild_job *j, void *context, struct err *err)
{
    struct rebuild_result *result = context;
    const struct service_port *service = &j->ports->pipeline->service;
    int rc = service->ops->refresh(service->self, result->generation, err);
    if (rc == 0) {
        rc = service->ops->count(service->self, result->generation, &result->documents, err);
    }
    if (rc == 0) {
        rc = deadletter_count(j->next, &result->dead_letters, err);
    }
    return rc == 0 ? rebuild_check_count_rows(j, &result->rows, err) : rc;
}

/* An index without any document is no replacement, even if the table is small. */
static bool rebuild_check_too_many_letters(const struct rebuild_result *r)
{
    bool many = r->dead_letters > LETTERS_FEW &&
                r->dead_letters > (r->documents + r->dead_letters) / LETTERS_SHARE;
    return many || (r->documents == 0 && r->dead_letters > 0);
}

static int rebuild_check_refuse(const struct rebuild_job *j, struct err *err)
{
    if (j->wish.kind == REBUILD_BACK) {
        return err_hint(err,
                        "the alias is unchanged; rowferry reindex --abort %s cancels the rollback "
                        "and keeps the index; rowferry reindex %s then builds a new one",
                        j->filling.definition.name, j->filling.definition.name);
    }
    return err_hint(err,
                    "the alias is unchanged; rowferry reindex --abort %s removes the new index, "
                    "then reindex again",
                    j->filling.definition.name);
}

static int rebuild_check_judge(const struct rebuild_job *j, const struct rebuild_result *r,
                               struct err *err)
{
    const int64_t *found = r->checked.found;
    if (verify_differences(&r->checked) == 0) {
        return 0;
    }
    err_set(err, ERR_STATE,
            "index \"%s\" was not swapped in: of %" PRId64 " documents %" PRId64
            " are missing, %" PRId64 " too many, %" PRId64 " altered",
            r->generation, r->checked.rows, found[VERIFY_MISSING], found[VERIFY_EXTRA],
            found[VERIFY_ALTERED]);
    return rebuild_check_refuse(j, err);
}

int rebuild_check(struct rebuild_job *j, struct rebuild_result *result, struct err *err)
{
    int rc = rebuild_retry(j, rebuild_check_count, result, err);
    if (rc == 0 && rebuild_check_too_many_letters(result)) {
        err_set(err, ERR_STATE,
                "index \"%s\" was not swapped in: %" PRId64
                " rows are dead letters, and only %" PRId64 " are documents",
                result->generation, result->dead_letters, result->documents);
        return rebuild_check_refuse(j, err);
    }
    bool same = result->rows == result->documents + result->dead_letters;
    if (rc == 0 && same) {
        rc = rebuild_check_compare(j, SAMPLE, result, err);
    }
    if (rc == 0 && (!same || verify_differences(&result->checked) > 0)) {
        rc = rebuild_check_compare(j, 0, result, err);
    }
    return rc == 0 ? rebuild_check_judge(j, result, err) : rc;
}

/* --- guard ----------------------------------------------------------------------------------- */

static const char *rebuild_check_word(const struct rebuild_job *j)
{
    return j->wish.kind == REBUILD_BACK ? " --rollback" : "";
}

/* Adds the hint for a permission. If the live index has not seen the deletes yet, it needs none. */
static int rebuild_check_hint_at_option(const struct rebuild_job *j, struct err *err)
{
    return err_hint(err,
                    "the alias is unchanged; if these deletions are intended: rowferry reindex%s "
                    "--allow-deletes %s",
                    rebuild_check_word(j), j->filling.definition.name);
}

/* Sets *synced if the live index has the configured definition; otherwise no command can sync
 * it. */
static int rebuild_check_look_synced(const struct rebuild_job *j, const struct generation *next,
                                     bool *synced, struct err *err)
{
    struct checkpoint live;
    const struct checkpoint *c = &next->checkpoint;
    int rc = checkpoint_load(j->ports->pipeline->state, &live, err);
    *synced = rc == 0 && generation_same_text(live.mapping_fingerprint, c->mapping_fingerprint) &&
              generation_same_text(live.table_fingerprint, c->table_fingerprint);
    checkpoint_release(&live);
    return rc;
}

/* Returns an error if the guard stopped the live pipeline, because the next generation lacks the
 * same rows. */
static int rebuild_check_expect_not_halted(const struct rebuild_job *j,
                                           const struct generation *next, struct err *err)
{
    struct guard_stop halt;
    bool halted = false;
    bool synced = false;
    int rc = guard_stop_read(j->ports->pipeline->state, &halt, &halted, err);
    if (rc < 0 || !halted || halt.operations > 0) {
        return rc;
    }
    rc = rebuild_check_look_synced(j, next, &synced, err);
    if (rc < 0) {
        return rc;
    }
    err_set(err, ERR_STATE,
            "the guard stopped the pipeline at %" PRId64 " deletes, so no index is swapped in",
            halt.deletes);
    return synced ? err_hint(err,
                             "if these deletions are intended: rowferry sync --allow-deletes "
                             "%s, which also continues the rebuild; if it cannot be synced: "
                             "rowferry reindex%s --allow-deletes %s",
                             j->filling.definition.name, rebuild_check_word(j),
                             j->filling.definition.name)
                  : rebuild_check_hint_at_option(j, err);
}

static int rebuild_check_refuse_swap(const struct rebuild_job *j, const char *next,
                                     const char *live, const struct swap_loss *loss,
                                     struct err *err)
{
    if (loss->after == 0) {
        err_set(err, ERR_STATE,
                "index \"%s\" was not swapped in: it has no documents, but the live index "
                "\"%s\" has %" PRId64,
                next, live, loss->before);
        return rebuild_check_hint_at_option(j, err);
    }
    err_set(err, ERR_STATE,
            "index \"%s\" was not swapped in: it has %" PRId64 " documents, %" PRId64
            " fewer than the %" PRId64
            " of the live index \"%s\", more than delete_guard permits (share %g, count %" PRId64
            ")",
            next, loss->after, loss->before - loss->after, loss->before, live,
            j->filling.guard.share, j->filling.guard.count);
    return rebuild_check_hint_at_option(j, err);
}

/* What somebody else made and is adopted has documents of its own, which may be more. */
int rebuild_guard(const struct rebuild_job *j, struct generation *next, enum alias_kind kind,
                  const char *live, struct err *err)
{
    struct swap_loss loss;
    if (kind == ALIAS_ABSENT || j->options->allow_deletes) {
        return 0;
    }
    bool limited = kind == ALIAS_ONE && j->filling.guard.share < 1;
    const struct guard_limits limits = {.share = limited ? j->filling.guard.share : 1,
                                        .count = j->filling.guard.count};
    int rc = limited ? rebuild_check_expect_not_halted(j, next, err) : 0;
    if (rc == 0) {
        rc = generation_judge_swap(next, &limits, 0, live, &loss, err);
    }
    return rc == 0 && loss.refused
               ? rebuild_check_refuse_swap(j, next->checkpoint.generation, live, &loss, err)
               : rc;
}
