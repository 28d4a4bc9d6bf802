/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server's state and its handlers. One lock: a handler has it all to itself.
 */
#ifndef DEVSEARCH_SERVER_H
#define DEVSEARCH_SERVER_H

#include "api/faults.h"
#include "base/options.h"
#include "base/request.h"
#include "index/catalogue.h"

#include <pthread.h>

/* A point in time: the refresh of each index that it holds on to. */
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

/* options: borrowed. Release it whether it could be opened or not. */
void server_init(struct server *s, const struct options *options);
int server_open(struct server *s, struct err *err) MUST_CHECK; /* options.data, or in memory */
void server_release(struct server *s);

/* Finds and runs the handler; always fills the answer. */
void route(struct server *s, const struct request *q, struct answer *a);

int64_t now_ms(const struct server *s);

/* Forgets the points in time that have ended. */
void pits_drop_old(struct server *s);

/* Makes what was written searchable. */
int index_refresh(struct server *s, struct index *ix, struct refusal *refusal);
/* Does what the parameter `refresh` of a write asks; forced: true or "". */
int index_refresh_as_asked(struct server *s, const struct request *q, struct index *ix,
                           struct refusal *refusal);
/* Before a write to the name: a known value of `refresh`, and one that will not wait for ever. */
int refresh_check(const struct server *s, const struct request *q, const char *name,
                  struct refusal *refusal);
/* Before a search: refreshes where the interval has passed. */
int index_catch_up(struct server *s, struct index *ix, struct refusal *refusal);

/* The handlers: 0 with the answer filled, or -1 with the refusal. */
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

#endif
