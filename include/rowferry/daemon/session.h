/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one pipeline works with: its state file, service and source, made from its configuration and
 * torn down in order. A command opens the parts that it needs.
 */
#ifndef ROWFERRY_DAEMON_SESSION_H
#define ROWFERRY_DAEMON_SESSION_H

#include "rowferry/base/clock.h"
#include "rowferry/config/config.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/engine/pipeline/pipeline.h"
#include "rowferry/engine/ports/table_source.h"
#include "rowferry/source/listing/listing.h"
#include "rowferry/state/store.h"

struct session {
    const struct config *config;
    const struct pipeline_config *pipeline;
    const char *command; /* "sync" */
    struct clock clock;
    struct mapping mapping;
    struct pipeline_config as_built; /* the pipeline, as the live generation was built */
    struct config *built;            /* whose words as_built borrows; null: not in use */
    char *built_text;
    bool anew;              /* for the generation that is built: by the configuration as it is */
    bool fences;            /* see source_options */
    char *application_name; /* what PostgreSQL shows of us */
    struct state *state;
    struct service_options service_options;
    struct service *service;
    struct table_source *table;
};

/* Borrows all; secrets have to be resolved. Opens nothing. */
int session_init(struct session *s, const struct config *config,
                 const struct pipeline_config *pipeline, const char *command,
                 struct err *err) MUST_CHECK;
void session_release(struct session *s);

int session_open_state(struct session *s, struct err *err) MUST_CHECK;
/* Becomes the pipeline's holder; ERR_HELD where another is. */
int session_hold(struct session *s, struct err *err) MUST_CHECK;
/*
 * While a rebuild is under way the live generation is written and compared by the words that it was
 * built from, whatever the configuration says now: pipeline and mapping are those then, where the
 * state file is open, unless `anew`.
 */
int session_open_service(struct session *s, struct err *err) MUST_CHECK;
void session_open_table(struct session *s);
/* Service and table, to be opened again. */
void session_close_servers(struct session *s);

/* For pipeline_sync, once all parts are open; stop and progress are the caller's to set. */
void session_options(const struct session *s, struct pipeline_options *out);
void session_ports(const struct session *s, struct pipeline_ports *out);

/* For verify_run; only: a condition over the table's columns, null for none. */
void session_listing(const struct session *s, const char *only, struct listing_options *out);

/* The options of a connection to the source. */
void session_source_options(const struct session *s, struct source_options *out);

#endif
