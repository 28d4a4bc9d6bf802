/* SPDX-License-Identifier: Apache-2.0 */
/* The definition of a pipeline: what its configuration says about index and documents. */
#pragma once

#include "rowferry/document/mapping/mapping.h"
#include "rowferry/document/model/key.h"
#include "rowferry/engine/generation/drift.h"
#include "rowferry/engine/port.h"

struct state;

/* Whether `validate` has passed for the definition; decides what becomes of a new generation. */
enum definition_trial {
    DEFINITION_TRIED,
    DEFINITION_UNTRIED, /* it is built with a warning */
    DEFINITION_BARRED,  /* it is not built: validate.required */
};

/* All pointers are borrowed. */
struct pipeline_definition {
    const char *name;
    const char *alias;
    bool stream;                 /* the alias names a data stream: documents are only added */
    const char *ingest_pipeline; /* null = none */
    struct key_routing routing;  /* of documents */
    const struct mapping *mapping;
    const char *settings; /* JSON object or null */
    const char *built;    /* canonical text of the configuration, stored with the generation
                             (state/generation_config.h); null: not stored */
    enum definition_trial trial;
    int64_t keep; /* former generations to keep if an unrecorded swap is found */
};

/* Other state files of a pipeline, each of which may have advanced it. */
enum pipeline_rivals {
    RIVALS_NONE,
    RIVALS_POSSIBLE, /* use the source's checkpoint backup if it is ahead */
    RIVALS_ACTIVE,   /* another process was active: use the backup also if it is equal */
};

/* Returns how the pipeline differs from the definition of its index ("it was built ..."), or null
 * if it does not. facts: of the connected source. */
const char *takeover_pipeline_differs(const struct pipeline_definition *definition,
                                      const struct source_facts *facts,
                                      const struct index_info *index);

/* Returns ERR_REJECTED, with a hint, if the index is written from another server, of which the
 * source may be a copy. state: null: unavailable. Changes nothing. */
int place_pipeline_check(const struct pipeline_definition *definition,
                         const struct source_facts *facts, const struct index_info *index,
                         struct state *state, struct err *err) MUST_CHECK;

/* Same as takeover_pipeline_differs, but line by line. state: where the canonical text of the
 * index's definition may be stored; null: unavailable. The caller releases *out. */
int schema_pipeline_drift(const struct pipeline_definition *definition,
                          const struct source_facts *facts, const struct index_info *index,
                          struct state *state, struct drift_found *out, struct err *err) MUST_CHECK;
