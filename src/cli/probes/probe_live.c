/* SPDX-License-Identifier: Apache-2.0 */
/* check: the live index, as the state file has it. Is it there, does the alias point at it, can it
 * be written? */
#include <string.h>

#include "probes/probe.h"
#include "rowferry/service/index/index.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/rebuild.h"

int probe_live_read(const struct check *c, struct checkpoint *out, bool *live, struct err *err)
{
    struct state *state = NULL;
    struct rebuild rebuild;
    bool underway = false;
    *live = false;
    int rc = state_open_read_only(&state, c->setup->config->state_path, c->pipeline->name, err);
    if (rc == 0 && state != NULL) {
        rc = checkpoint_load(state, out, err);
        rc = rc == 0 ? rebuild_look(state, &rebuild, &underway, err) : rc;
        *live = rc == 0 && !underway && out->phase == GENERATION_LIVE && out->generation != NULL;
    }
    state_close(state);
    return rc;
}

static void probe_live_report_gone(struct check *c, const struct checkpoint *live)
{
    if (c->pipeline->to.kind == INDEX_KIND_DATA_STREAM) {
        check_report(c, VERDICT_FAIL, NULL, "data stream \"%s\" no longer exists",
                     live->generation);
        check_remedy(c, "the next sync fills it again: rowferry sync %s", c->pipeline->name);
    } else {
        check_report(c, VERDICT_FAIL, NULL, "index \"%s\" no longer exists", live->generation);
        check_remedy(c, "rowferry reindex %s", c->pipeline->name);
    }
}

/* The index exists, but the alias does not point at it alone. A rebuild is refused while the alias
 * points at an index that the pipeline did not build. */
static void probe_live_report_alias(struct check *c, const struct checkpoint *live,
                                    enum alias_kind kind, const struct index_info *at)
{
    const char *alias = c->pipeline->to.index;
    const char *index = live->generation;
    int64_t number;
    bool rebuildable = kind == ALIAS_ABSENT || strcmp(at->pipeline, c->pipeline->name) == 0;
    if (!index_name_of_alias(index, alias, &number)) { /* to.index was changed since */
        check_report(c, VERDICT_FAIL, NULL,
                     "to.index was changed to \"%s\", and the live index is \"%s\"", alias, index);
        check_remedy(c, "restore to.index in the file%s%s",
                     rebuildable ? ", or rebuild the index: rowferry reindex " : "",
                     rebuildable ? c->pipeline->name : "");
        return;
    }
    if (kind == ALIAS_ABSENT) {
        check_report(c, VERDICT_FAIL, NULL, "alias \"%s\" no longer exists", alias);
        check_remedy(c,
                     "POST /_aliases "
                     "{\"actions\":[{\"add\":{\"index\":\"%s\",\"alias\":\"%s\"}}]}; or rebuild "
                     "the index: rowferry reindex %s",
                     index, alias, c->pipeline->name);
        return;
    }
    check_report(c, VERDICT_FAIL, NULL, "alias \"%s\" points at \"%s\" instead of \"%s\"", alias,
                 at->name, index);
    check_remedy(c,
                 "POST /_aliases {\"actions\":[{\"remove\":{\"index\":\"%s\",\"alias\":\"%s\"}},"
                 "{\"add\":{\"index\":\"%s\",\"alias\":\"%s\"}}]}%s%s",
                 at->name, alias, index, alias,
                 rebuildable ? "; or rebuild the index: rowferry reindex " : "",
                 rebuildable ? c->pipeline->name : "");
}

static void probe_live_report_missed(struct check *c, const struct checkpoint *live,
                                     enum alias_kind kind, const struct index_info *at)
{
    struct err err;
    struct index_info index;
    bool found = false;
    if (c->pipeline->to.kind == INDEX_KIND_INDEX &&
        index_look(c->session.service, live->generation, &found, &index, &err) < 0) {
        check_fail(c, &err);
    } else if (!found) {
        probe_live_report_gone(c, live);
    } else {
        probe_live_report_alias(c, live, kind, at);
    }
}

bool probe_live_is_open(struct check *c, const struct index_info *index)
{
    if (index->closed) {
        check_report(c, VERDICT_FAIL, NULL, "index \"%s\" is closed", index->name);
        check_remedy(c, "POST /%s/_open", index->name);
        return false;
    }
    if (index->write_block != NULL) {
        bool disk = strstr(index->write_block, "allow_delete") != NULL;
        check_report(c, VERDICT_FAIL, NULL, "index \"%s\" takes no writes: \"%s\" is set%s",
                     index->name, index->write_block,
                     disk ? ", as the service does if a disk is full" : "");
        check_remedy(c, "%sPUT /%s/_settings {\"%s\":null}", disk ? "free disk space, then: " : "",
                     index->name, index->write_block);
        return false;
    }
    return true;
}

bool probe_live_is_there(struct check *c, enum alias_kind kind, const struct index_info *at)
{
    struct err err;
    struct checkpoint live = {0};
    bool is_live;
    bool good = true;
    if (probe_live_read(c, &live, &is_live, &err) < 0) {
        check_fail(c, &err);
        good = false;
    } else if (is_live && kind != ALIAS_SEVERAL &&
               (kind == ALIAS_ABSENT || strcmp(at->name, live.generation) != 0)) {
        probe_live_report_missed(c, &live, kind, at);
        good = false;
    } else if (is_live && live.index_uuid != NULL && strcmp(live.index_uuid, at->uuid) != 0 &&
               kind == ALIAS_ONE) {
        check_report(c, VERDICT_FAIL, NULL,
                     "index \"%s\" was deleted and created again by another program", at->name);
        check_remedy(c, "rowferry reindex %s", c->pipeline->name);
        good = false;
    }
    checkpoint_release(&live);
    return good;
}
