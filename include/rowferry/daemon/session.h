/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts that one pipeline works with: its state file, service and source. They are made from
 * its configuration and torn down in order. A command opens the parts that it needs.
 */
#pragma once

#include "rowferry/base/clock.h"
#include "rowferry/config/config.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/engine/pipeline/pipeline.h"
#include "rowferry/engine/ports/table_source.h"
#include "rowferry/source/listing/listing.h"
#include "rowferry/source/pg/pg.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/store.h"
#include "rowferry/state/validation.h"

/* The generation that a session works on, whose definition it uses. */
enum session_target {
    SESSION_LIVE,   /* definition of the file, unless the live one must be kept by its own */
    SESSION_NEXT,   /* definition of the file */
    SESSION_FORMER, /* definition that the former generation was built from, if it is known */
};

struct session {
    const struct config *config;
    const struct pipeline_config *pipeline;
    const char *command; /* "sync" */
    struct clock clock;
    struct mapping mapping;
    struct pipeline_config as_built; /* the pipeline with the definition of `target` */
    struct config *built;            /* configuration that as_built borrows from; null if not in
                                      * use */
    char *built_text;
    enum session_target target;
    bool returned; /* see session_look_returned; known when the service is open */
    bool keeps;    /* a rebuild began with the definition of the file: it is that of the live index
                      only at its end */
    enum definition_trial trial; /* of the definition; known when the service is open */
    bool fences;                 /* see source_options */
    char *application_name;      /* name of the session in PostgreSQL */
    struct state *state;
    struct service_options service_options;
    struct service *service;
    struct table_source *table;
};

/* Borrows everything; secrets must be resolved. Opens nothing. */
int session_init(struct session *s, const struct config *config,
                 const struct pipeline_config *pipeline, const char *command,
                 struct err *err) MUST_CHECK;
void session_release(struct session *s);

int session_open_state(struct session *s, struct err *err) MUST_CHECK;
/* Takes the pipeline's lock. Returns ERR_HELD if another process holds it. */
int session_hold(struct session *s, struct err *err) MUST_CHECK;
/*
 * Opens the service. During a rebuild, and after a return to a former generation, the live
 * generation is written and compared by the definition that it was built from, not by the current
 * configuration. If the state file is open, pipeline and mapping are then replaced by that
 * definition, or by the one of `target`.
 */
int session_open_service(struct session *s, struct err *err) MUST_CHECK;
void session_open_table(struct session *s);
/* Sets *returned if the last rebuild was a return to a former generation, and the configuration
 * differs from the one that this generation was built from. The next rebuild ends that. */
int session_look_returned(struct state *state, const struct pipeline_config *pipeline,
                          bool *returned, struct err *err) MUST_CHECK;
/* Writes the hash of a definition by which `validate` and the building of an index recognise it:
 * what the documents are made of, and the settings. */
void session_hash_definition(const struct pipeline_config *pipeline,
                             char out[VALIDATION_DEFINITION_BYTES]);
/* Closes service and table; both may be opened again. */
void session_close_servers(struct session *s);

/* Fills the options for pipeline_run; all parts must be open. The caller sets stop and
 * progress. */
void session_options(const struct session *s, struct pipeline_options *out);
void session_ports(const struct session *s, struct pipeline_ports *out);

/* Fills the listing for verify_run. `only` is a condition over the table's columns, or null. */
void session_listing(const struct session *s, const char *only, struct listing_options *out);

/* Fills the options of a connection to the source. */
void session_source_options(const struct session *s, struct source_options *out);

/* Returns 0 if the change log has all changes that the live index lacks; 1 if not, and the next
 * sync finds them. ERR_TRANSIENT: it could not be asked. Unless it is 0, *err names the cause and
 * the command that mends it. Only while no process holds the pipeline, because a holder moves its
 * consumer. */
int session_examine_capture(struct pg *pg, const struct pipeline_config *pipeline,
                            const struct checkpoint *live, struct err *err) MUST_CHECK;
