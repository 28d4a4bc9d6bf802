/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the outcome of a rebuild, and writes and reads its JSON form. */
#include "rowferry/daemon/rebuild_outcome.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/document/json/json_tree.h"
#include "rowferry/document/json/record.h"

static const char *const kind_names[] = {
    [REBUILD_OUTCOME_NOTHING] = "none",     [REBUILD_OUTCOME_NEW] = "rebuilt",
    [REBUILD_OUTCOME_BACK] = "rolled_back", [REBUILD_OUTCOME_FIRST] = "first_built",
    [REBUILD_OUTCOME_ABORTED] = "aborted",
};
#define KIND_COUNT (sizeof(kind_names) / sizeof(kind_names[0]))

#define ADOPTED_SUFFIX "-before-rowferry"

static bool rebuild_outcome_is_adopted(const char *index)
{
    size_t len = strlen(index);
    size_t suffix = sizeof(ADOPTED_SUFFIX) - 1;
    return len > suffix && strcmp(index + len - suffix, ADOPTED_SUFFIX) == 0;
}

void rebuild_outcome_fill(struct rebuild_outcome *out, enum rebuild_kind kind, int64_t keep,
                          const struct rebuild_result *result)
{
    bool adopted = rebuild_outcome_is_adopted(result->former);
    *out = (struct rebuild_outcome){.kind = kind == REBUILD_BACK ? REBUILD_OUTCOME_BACK
                                                                 : REBUILD_OUTCOME_NEW,
                                    .kept = (keep > 0 || adopted) && result->former[0] != '\0',
                                    .adopted = adopted,
                                    .rows = result->rows,
                                    .documents = result->documents,
                                    .checked = result->checked.rows,
                                    .upserts = result->counters.upserts,
                                    .deletes = result->counters.deletes,
                                    .rejected = result->counters.rejected,
                                    .dead_letters = result->dead_letters,
                                    .removed = (int64_t)result->removed};
    snprintf(out->generation, sizeof(out->generation), "%s", result->generation);
    snprintf(out->former, sizeof(out->former), "%s", result->former);
}

void rebuild_outcome_fill_failed(struct rebuild_outcome *out, const struct rebuild_result *result)
{
    rebuild_outcome_fill(out, REBUILD_NEW, 0, result);
    out->kind = REBUILD_OUTCOME_NOTHING;
    out->former[0] = '\0'; /* the alias has not moved */
}

void rebuild_outcome_fill_aborted(struct rebuild_outcome *out,
                                  const struct rebuild_aborted *aborted)
{
    bool was_rollback = aborted->kind == REBUILD_BACK; /* it keeps its target */
    *out = (struct rebuild_outcome){.kind = aborted->any ? REBUILD_OUTCOME_ABORTED
                                                         : REBUILD_OUTCOME_NOTHING,
                                    .kept = was_rollback && aborted->any};
    snprintf(was_rollback ? out->former : out->generation, sizeof(out->former), "%s",
             aborted->generation);
}

/* --- the answer ------------------------------------------------------------------------------ */

void rebuild_outcome_push_members(struct buf *out, const struct rebuild_outcome *r)
{
    record_text(out, "action", kind_names[r->kind]);
    record_text(out, "generation", r->generation[0] != '\0' ? r->generation : NULL);
    record_text(out, "former", r->former[0] != '\0' ? r->former : NULL);
    record_bool(out, "former_kept", r->kept);
    record_bool(out, "adopted", r->adopted);
    record_int(out, "rows", r->rows);
    record_int(out, "documents", r->documents);
    record_int(out, "checked", r->checked);
    record_int(out, "upserts", r->upserts);
    record_int(out, "deletes", r->deletes);
    record_int(out, "rejected", r->rejected);
    record_int(out, "dead_letters", r->dead_letters);
    record_int(out, "removed", r->removed);
}

void rebuild_outcome_push_answer(struct buf *out, const struct rebuild_outcome *r)
{
    record_open(out);
    rebuild_outcome_push_members(out, r);
    record_close(out);
}

static int64_t rebuild_outcome_member(struct json_object *answer, const char *name)
{
    return json_object_get_int64(json_tree_member(answer, name));
}

static void rebuild_outcome_take_text(char out[256], struct json_object *answer, const char *name)
{
    const char *text = json_object_get_string(json_tree_member(answer, name));
    snprintf(out, 256, "%s", text != NULL ? text : "");
}

bool rebuild_outcome_read_answer(struct rebuild_outcome *out, const char *answer)
{
    struct json_object *parsed = json_tree_of(answer);
    const char *action = json_object_get_string(json_tree_member(parsed, "action"));
    size_t kind = 0;
    while (action != NULL && kind < KIND_COUNT && strcmp(kind_names[kind], action) != 0) {
        kind++;
    }
    bool known = action != NULL && kind < KIND_COUNT;
    *out = (struct rebuild_outcome){
        .kind = known ? (enum rebuild_outcome_kind)kind : REBUILD_OUTCOME_NOTHING,
        .kept = json_object_get_boolean(json_tree_member(parsed, "former_kept")),
        .adopted = json_object_get_boolean(json_tree_member(parsed, "adopted")),
        .rows = rebuild_outcome_member(parsed, "rows"),
        .documents = rebuild_outcome_member(parsed, "documents"),
        .checked = rebuild_outcome_member(parsed, "checked"),
        .upserts = rebuild_outcome_member(parsed, "upserts"),
        .deletes = rebuild_outcome_member(parsed, "deletes"),
        .rejected = rebuild_outcome_member(parsed, "rejected"),
        .dead_letters = rebuild_outcome_member(parsed, "dead_letters"),
        .removed = rebuild_outcome_member(parsed, "removed")};
    rebuild_outcome_take_text(out->generation, parsed, "generation");
    rebuild_outcome_take_text(out->former, parsed, "former");
    json_object_put(parsed);
    return known;
}
