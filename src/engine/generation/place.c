/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the place of an index with that of the source. */
#include "generation/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/failpoint.h"
#include "rowferry/base/log.h"

/* The fields of the text. */
struct place_fields {
    long timeline; /* 0: unknown */
    char started[40];
    char server[80];
    const char *address; /* borrowed: the rest of the text */
};

static bool place_parse(struct place_fields *out, const char *text)
{
    char timeline[12];
    int end = 0;
    *out = (struct place_fields){0};
    if (sscanf(text, "%11s %39s %79s %n", timeline, out->started, out->server, &end) != 3) {
        return false;
    }
    out->timeline = strtol(timeline, NULL, 10);
    out->address = text + end;
    return true;
}

/* Returns true if the server of the index follows this one: with a higher timeline, or a later
 * start. It does not if the index was put back from an older copy. */
static bool place_follows(const struct place_fields *index, const struct place_fields *own)
{
    bool same = index->timeline == own->timeline || index->timeline == 0 || own->timeline == 0;
    return same ? strcmp(index->started, own->started) > 0 : index->timeline > own->timeline;
}

/* Returns true if the server is the one from which this state file wrote last, or if it was already
 * replaced by that of the index. */
static bool place_is_taken(const struct written_place *last, const char *index,
                           const struct place_fields *is, const struct place_fields *own)
{
    struct place_fields was;
    return last->lost ? strcmp(last->place, index) == 0
                      : place_parse(&was, last->place) && strcmp(was.started, own->started) == 0 &&
                            place_follows(is, own);
}

enum place_verdict place_judge(const char *index, const char *own, const struct written_place *last)
{
    struct place_fields was, is;
    if (strcmp(index, own) == 0) {
        return PLACE_SAME;
    }
    if (!place_parse(&was, index) || !place_parse(&is, own) ||
        strcmp(was.started, is.started) == 0) {
        return PLACE_MOVED;
    }
    if (place_is_taken(last, index, &was, &is)) {
        return PLACE_TAKEN;
    }
    bool promoted = was.timeline > 0 && is.timeline > was.timeline;
    bool same_server = strcmp(was.server, "-") != 0 && strcmp(was.server, is.server) == 0;
    return promoted || same_server || strcmp(was.address, is.address) == 0 ? PLACE_MOVED
                                                                           : PLACE_OTHER;
}

static int place_refuse(const struct generation *t, const struct index_info *at,
                        enum place_verdict verdict, struct err *err)
{
    struct place_fields was, is;
    const char *name = t->definition->name;
    bool copy = t->facts.identity != NULL && strcmp(at->source, t->facts.identity) == 0;
    (void)place_parse(&was, at->place);
    (void)place_parse(&is, t->facts.place);
    err_set(err, ERR_REJECTED, "index \"%s\" %s of %s, started at %s; this is %s, started at %s%s",
            at->name,
            verdict == PLACE_TAKEN ? "was taken over by the server" : "belongs to the server",
            was.address, was.started, is.address, is.started,
            verdict == PLACE_TAKEN ? ""
            : copy                 ? ", and may be a copy of it"
                                   : ", and is another database");
    if (t->definition->stream) {
        return err_hint(err, "choose another to.index (docs/recovery.md, Moves)");
    }
    return err_hint(err,
                    "choose another to.index; or, if this server has replaced the other, run "
                    "rowferry reindex %s%s%s%s",
                    t->next ? "--abort " : "", name, t->next ? ", then rowferry reindex " : "",
                    t->next ? name : "");
}

static int place_note(const struct generation *t, const char *uuid, const char *place, bool lost,
                      struct err *err)
{
    struct written_place row = {.lost = lost};
    snprintf(row.uuid, sizeof(row.uuid), "%s", uuid);
    snprintf(row.place, sizeof(row.place), "%s", place);
    return written_place_write(t->state, &row, err);
}

/* *last is zero if the state file has no place of the index. */
static int place_find(const struct generation *t, const struct index_info *at,
                      struct written_place *last, enum place_verdict *verdict, struct err *err)
{
    bool known = false;
    *last = (struct written_place){0};
    int rc = t->state != NULL ? written_place_read(t->state, last, &known, err) : 0;
    if (rc < 0 || t->facts.place == NULL) {
        return rc;
    }
    if (strcmp(last->uuid, at->uuid) != 0) {
        *last = (struct written_place){0};
    }
    *verdict = place_judge(at->place, t->facts.place, last);
    return 0;
}

int place_check(struct generation *t, const struct index_info *at, struct err *err)
{
    struct written_place last;
    enum place_verdict verdict = PLACE_SAME;
    t->place = (struct generation_place){0};
    if (t->facts.place == NULL || t->observes) {
        return 0;
    }
    int rc = place_find(t, at, &last, &verdict, err);
    if (rc == 0 && verdict == PLACE_TAKEN && !last.lost) {
        rc = place_note(t, at->uuid, at->place, true, err);
    }
    if (rc < 0 || verdict == PLACE_TAKEN || verdict == PLACE_OTHER) {
        return rc < 0 ? rc : place_refuse(t, at, verdict, err);
    }
    snprintf(t->place.text, sizeof(t->place.text), "%s", t->facts.place);
    t->place.moved = verdict == PLACE_MOVED;
    t->place.noted = strcmp(last.place, t->facts.place) == 0;
    return 0;
}

int place_pipeline_check(const struct pipeline_definition *definition,
                         const struct source_facts *facts, const struct index_info *index,
                         struct state *state, struct err *err)
{
    struct generation t = {.definition = definition, .facts = *facts, .state = state};
    struct written_place last;
    enum place_verdict verdict = PLACE_SAME;
    int rc = place_find(&t, index, &last, &verdict, err);
    return rc == 0 && (verdict == PLACE_TAKEN || verdict == PLACE_OTHER)
               ? place_refuse(&t, index, verdict, err)
               : rc;
}

/* The new creator changes the write alias. */
static int place_write_index(struct generation *t, struct err *err)
{
    const char *name = t->checkpoint.generation;
    if (t->definition->stream) {
        return generation_create(t, t->checkpoint.mapping_fingerprint, err);
    }
    struct buf meta;
    buf_init(&meta, 8192);
    buf_push_literal(&meta, "{\"place\":");
    text_json(&meta, t->place.text, strlen(t->place.text));
    buf_printf(&meta, ",\"creator\":\"%016" PRIx64 "\"}", clock_random(&t->clock));
    int rc = t->service.ops->extend(t->service.self, name, NULL, buf_text(&meta), err);
    buf_release(&meta);
    return rc;
}

int place_settle(struct generation *t, struct err *err)
{
    int rc = t->place.moved ? place_write_index(t, err) : 0;
    if (rc == 0 && t->place.moved && FAILPOINT("place_written")) {
        rc = err_set(err, ERR_TRANSIENT, "failpoint \"place_written\"");
    }
    if (rc == 0 && t->place.moved) {
        log_event(LOG_INFO, "place_written", F_TEXT("pipeline", t->definition->name),
                  F_TEXT("index", t->checkpoint.generation), F_TEXT("place", t->place.text));
    }
    if (rc == 0 && t->place.text[0] != '\0' && !t->place.noted) {
        rc = place_note(t, t->checkpoint.index_uuid, t->place.text, false, err);
    }
    t->place.moved = false;
    t->place.noted = true;
    return rc;
}
