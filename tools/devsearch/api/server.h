/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the server and its handlers. One lock serialises all handlers.
 */
#pragma once

#include "api/faults.h"
#include "base/options.h"
#include "base/request.h"
#include "index/catalogue.h"

#include <pthread.h>

/* A point in time: one refresh per index, kept until it ends. */
struct pit {
    char *id;
    int64_t *numbers;
    int64_t *refreshes;
    size_t count;
    int64_t ends_ms;
};

struct server {
    const struct options *options;
    struct clock clock;
    struct store *store;
    struct catalogue catalogue;
    struct faults faults;
    struct pit *pits;
    size_t pit_count;
    pthread_mutex_t lock;
    char *cluster_uuid;
    int64_t requests;
    int64_t bulk_requests;
    int64_t bulk_operations;
    int64_t bulk_bytes;
};

typedef int handler(struct server *s, const struct request *q, struct answer *a,
                    struct refusal *refusal);

/* Initialises the server; options is borrowed. Release it even if server_open fails. */
void server_init(struct server *s, const struct options *options);
int server_open(struct server *s, struct err *err) MUST_CHECK; /* opens options.data or memory */
void server_release(struct server *s);

/* Finds and runs the handler; always fills the answer. */
void route(struct server *s, const struct request *q, struct answer *a);

int64_t now_ms(const struct server *s);

/* Removes expired points in time. */
void pits_drop_old(struct server *s);

/* Makes all writes searchable. */
int index_refresh(struct server *s, struct index *ix, struct refusal *refusal);
/* Refreshes if the write's `refresh` parameter is neither absent nor "false". */
int index_refresh_as_asked(struct server *s, const struct request *q, struct index *ix,
                           struct refusal *refusal);
/* Checks the `refresh` parameter before a write to name. Refuses unknown values, and `wait_for` if
 * the index is never refreshed. */
int refresh_check(const struct server *s, const struct request *q, const char *name,
                  struct refusal *refusal);
/* Call before a search: refreshes if the interval has passed. */
int index_catch_up(struct server *s, struct index *ix, struct refusal *refusal);

/* A handler returns 0 with the answer filled, or -1 with the refusal filled. */
#define HANDLER(name)                                                                              \
    int name(struct server *s, const struct request *q, struct answer *a, struct refusal *refusal)

HANDLER(get_root);
HANDLER(create_index);
HANDLER(get_index);
HANDLER(delete_index);
HANDLER(close_index);
HANDLER(open_index);
HANDLER(clone_index);
HANDLER(get_mapping);
HANDLER(put_mapping);
HANDLER(get_settings);
HANDLER(put_settings);
HANDLER(post_aliases);
HANDLER(get_alias);
HANDLER(bulk);
HANDLER(put_document);
HANDLER(post_document);
HANDLER(get_document);
HANDLER(get_source);
HANDLER(delete_document);
HANDLER(multi_get);
HANDLER(search);
HANDLER(count);
HANDLER(refresh);
HANDLER(get_stats);
HANDLER(get_segments);
HANDLER(health);
HANDLER(analyze);
HANDLER(open_pit);
HANDLER(close_pit);
HANDLER(post_faults);
HANDLER(delete_faults);
HANDLER(get_fault_stats);
HANDLER(put_template);
HANDLER(get_template);
HANDLER(simulate_template);
HANDLER(delete_template);
HANDLER(put_stream);
HANDLER(get_stream);
HANDLER(delete_stream);
HANDLER(rollover);
