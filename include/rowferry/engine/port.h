/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine's ports: the pipeline loop reaches everything outside through these. So the same loop
 * runs against the real servers and against a seeded simulation.
 *
 * The source is a capture (source/capture.h) behind an opener, because the engine reopens it after
 * a lost connection. The service is a table of functions. Both use the real state file. Clock and
 * randomness come from struct clock.
 */
#pragma once

#include "rowferry/document/plan/plan.h"
#include "rowferry/service/bulk/bulk.h"
#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/cluster/storage.h"
#include "rowferry/service/http/product.h"
#include "rowferry/service/index/index.h"
#include "rowferry/service/index/scan.h"
#include "rowferry/service/index/stream.h"
#include "rowferry/source/capture.h"

#define PRESENT_MAX 1000

/* Facts about the source, known after connect. All borrowed from the port. */
struct source_facts {
    const char *identity;    /* "system/database" */
    const char *fingerprint; /* of the table's definition */
    const struct plan *plan; /* compiled against that definition */
    const char *words; /* canonical text behind the fingerprint (engine/generation/drift.h); null:
                          unknown */
    int version;       /* of the server, as 150018 */
    const char *place; /* of the server that is written (generation/place.h); null: unknown */
};

struct table_source; /* engine/ports/table_source.h; a test has its own */

struct source_port_ops {
    /* Connects, looks up the table, compiles the plan and checks that changes are captured. Called
     * again after a lost connection. */
    int (*connect)(struct table_source *self, struct source_facts *facts, struct err *err);
    /* Called between connect and capture; has no effect later. Keeps other processes from starting
     * an initial load of the same name (ERR_HELD for them) while the session lasts. */
    int (*claim)(struct table_source *self, const char *name, struct err *err);
    /* Opens the capture of a consumer on the new connection and takes the connection over. Also
     * takes the consumer's lock in the source; returns ERR_HELD if another process holds it. The
     * caller frees the capture. */
    int (*capture)(struct table_source *self, const char *consumer, struct capture **out,
                   struct err *err);
    /* Called between connect and capture. Takes the lock and reads the checkpoint backup of this
     * consumer. own: the position of an intact state file, or null; a backup behind it is not
     * usable. The caller frees position and letters. */
    int (*mirrored)(struct table_source *self, const char *consumer, const char *own,
                    struct mirrored *out, struct err *err);
    /* Called between connect and capture. Takes the lock and records the columns that fill these
     * properties as part of the index's initial definition. May be repeated. */
    int (*extend)(struct table_source *self, const char *consumer, const char *const *properties,
                  size_t count, struct err *err);
};

struct source_port {
    const struct source_port_ops *ops;
    struct table_source *self;
};

/* In these structs, each member without a comment has the type and the contract of the function
 * that it names. */
struct service_alias_ops {
    __typeof__(alias_poll_begin) *poll_begin;
    __typeof__(alias_poll_end) *poll_end;
    __typeof__(write_alias_expect_hidden) *expect_hidden;
    __typeof__(write_alias_open) *open_writes;
    __typeof__(adopt_swap_alias) *swap_adopting;
    __typeof__(adopt_undo_alias) *undo_adoption;
};

struct service_stream_ops {
    __typeof__(stream_create) *create;
    __typeof__(stream_mark) *mark;
};

struct service_bulk_ops {
    __typeof__(bulk_can_send) *can_send;
    __typeof__(bulk_send) *send;
    __typeof__(bulk_take) *take;
    __typeof__(bulk_wait) *wait;
};

struct service_port_ops {
    /* Identifies the product, before any other call (service/http/product.h); logs its name. */
    int (*greet)(struct service *s, bool again, struct product_info *out, struct err *err);

    __typeof__(index_resolve) *resolve;
    __typeof__(index_look) *look;
    __typeof__(index_create) *create;
    __typeof__(index_finish) *finish;
    __typeof__(index_swap) *swap;
    __typeof__(index_refresh) *refresh;
    __typeof__(index_delete) *remove;
    __typeof__(index_count) *count;
    __typeof__(index_ready) *ready; /* green if the health may not be read, which is logged */
    __typeof__(index_list) *list;
    __typeof__(index_leave) *leave;
    __typeof__(index_left) *left;
    __typeof__(index_mapping) *mapping;
    __typeof__(index_extend) *extend;
    __typeof__(scan_next) *scan;

    /* Sets found[i] if keys[i] has a document now; count is at most PRESENT_MAX. */
    int (*present)(struct service *s, const char *index, const struct span *keys, size_t count,
                   bool *found, struct err *err);

    __typeof__(storage_look) *storage;
    __typeof__(cluster_request_limit) *request_limit;
    struct service_alias_ops alias;
    struct service_stream_ops stream;
    struct service_bulk_ops bulk;
};

struct service_port {
    const struct service_port_ops *ops;
    struct service *self;
};

/* Returns the port of a real service. */
struct service_port service_port_of(struct service *s);
