/* SPDX-License-Identifier: Apache-2.0 */
/* The session that holds the pipelines of a process. */
#include "rowferry/source/pg/lease.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "rowferry/source/pg/consumer_lock.h"

struct lease {
    struct pg *pg;     /* owned: connection to the configured source */
    struct pg *writer; /* session with the locks: pg itself, or its primary */
};

/* If the network fails silently, the server must notice by itself, and soon. */
static int lease_make_short(struct pg *pg, struct err *err)
{
    char sql[512];
    snprintf(sql, sizeof(sql),
             "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2;"
             "set tcp_keepalives_count = 3; set tcp_user_timeout = %d;"
             "select set_config(name, '%d', false) from pg_settings"
             " where name = 'idle_session_timeout'",
             LEASE_GONE_MS, LEASE_MS);
    return pg_script(pg, sql, err);
}

int lease_open(struct lease **out, const struct source_options *options, struct err *err)
{
    struct lease *h = mem_zero(1, sizeof(*h));
    *out = NULL;
    int rc = pg_open(&h->pg, options, err);
    h->writer = h->pg;
    if (rc == 0 && options->primary != NULL) {
        rc = pg_writer(h->pg, &h->writer, err);
    }
    rc = rc == 0 ? lease_make_short(h->writer, err) : rc;
    if (rc < 0) {
        lease_close(h);
        return rc;
    }
    *out = h;
    return 0;
}

void lease_close(struct lease *h)
{
    if (h != NULL) {
        pg_close(h->pg);
        free(h);
    }
}

int lease_try(struct lease *h, const char *name, bool *got, struct err *err)
{
    return consumer_lock_try(h->writer, name, got, err);
}

int lease_who(struct lease *h, const char *name, struct err *err)
{
    return consumer_lock_who(h->writer, name, err);
}

int lease_release(struct lease *h, const char *name, struct err *err)
{
    return consumer_lock_release(h->writer, name, err);
}

int lease_show_waiting(struct lease *h, const char *pipeline, bool waits, struct err *err)
{
    return consumer_lock_show_waiting(h->writer, pipeline, waits, err);
}

int lease_beat(struct lease *h, struct err *err)
{
    return pg_query(h->writer, NULL, NULL, "select", NULL, 0, err);
}

int lease_attend(struct lease *h, const char *consumer, struct err *err)
{
    return pg_ask(h->writer, NULL, "consumer_attend", PG_PARAMS(consumer), err);
}

int lease_fd(const struct lease *h)
{
    return PQsocket(h->writer->conn);
}
