/* SPDX-License-Identifier: Apache-2.0 */
/* The advisory lock of a pipeline's consumer. */
#include "rowferry/source/pg/consumer_lock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"

#define LOCK_CLASS "1380927302"    /* our class among the advisory locks of the database */
#define WAITING_CLASS "1380927303" /* the same, of sessions that wait for a pipeline */
#define GONE_MS 3000               /* the server may not have noticed yet that a holder has ended */
#define PAUSE_MS 20

/* The second half of a consumer's lock; LOCK_CLASS is the first. */
#define HALF(name) PG_INT((int32_t)(uint32_t)text_hash((name), strlen(name)))

/* Ends the session of a run that has lost the pipeline without noticing. A role may end only its
 * own sessions. */
static int consumer_lock_end_loser(struct pg *pg, const char *half, struct err *err)
{
    struct pg_result *holder = NULL;
    struct err ignored;
    int rc = pg_ask(pg, &holder, "look_holder", PG_PARAMS(LOCK_CLASS, half), err);
    if (rc == 0 && pg_rows(holder) > 0 &&
        strcmp(pg_text(holder, 0, 2), pg->application_name) == 0) {
        (void)!pg_query(pg, NULL, NULL, "select pg_terminate_backend($1::integer)",
                        PG_PARAMS(pg_text(holder, 0, 0)), &ignored);
    }
    pg_result_release(holder);
    return rc;
}

/* Reports a lock holder that is not a rowferry role: any role that may connect can take any
 * advisory lock. */
static int consumer_lock_name_stranger(const char *consumer, const struct pg_result *r,
                                       struct err *err)
{
    err_set(err, ERR_REJECTED,
            "the lock of \"%s\" is taken by session %" PRId64
            " of role \"%s\" from %s, which may not hold it",
            consumer, pg_int(r, 0, 0), pg_text(r, 0, 4), pg_text(r, 0, 1));
    return err_hint(err,
                    "end that session: select pg_terminate_backend(%" PRId64
                    "), and revoke CONNECT from roles that do not need it",
                    pg_int(r, 0, 0));
}

/* Returns ERR_HELD with the lock holder. Its session may have ended by now, or be invisible to this
 * role. */
int consumer_lock_who(struct pg *pg, const char *consumer, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "look_holder", PG_PARAMS(LOCK_CLASS, HALF(consumer)), err);
    if (rc == 0 && pg_rows(r) > 0 && !pg_true(r, 0, 5)) {
        rc = consumer_lock_name_stranger(consumer, r, err);
    } else if (rc == 0 && pg_rows(r) > 0) {
        rc = err_set(
            err, ERR_HELD, "\"%s\" is held by the session %" PRId64 " of \"%s\" from %s since %s",
            consumer, pg_int(r, 0, 0), pg_text(r, 0, 2), pg_text(r, 0, 1), pg_text(r, 0, 3));
    } else if (rc == 0) {
        rc = err_set(err, ERR_HELD, "\"%s\" is held by another session of the source", consumer);
    }
    pg_result_release(r);
    return rc;
}

int consumer_lock_try(struct pg *pg, const char *consumer, bool *got, struct err *err)
{
    return pg_query_bool(pg, "select pg_try_advisory_lock($1::integer, $2::integer)",
                         PG_PARAMS(LOCK_CLASS, HALF(consumer)), got, err);
}

int consumer_lock_release(struct pg *pg, const char *consumer, struct err *err)
{
    return pg_query(pg, NULL, NULL, "select pg_advisory_unlock($1::integer, $2::integer)",
                    PG_PARAMS(LOCK_CLASS, HALF(consumer)), err);
}

/* Another role could have the lock exclusively; then nothing is shown. */
int consumer_lock_show_waiting(struct pg *pg, const char *pipeline, bool waits, struct err *err)
{
    return pg_query(pg, NULL, NULL,
                    waits
                        ? "select pg_try_advisory_lock_shared($1::integer, $2::integer)"
                        : "select pg_advisory_unlock_shared($1::integer, $2::integer) from pg_locks"
                          " where pid = pg_backend_pid() and locktype = 'advisory' and"
                          " objid = $2::integer::oid and mode = 'ShareLock'",
                    PG_PARAMS(WAITING_CLASS, HALF(pipeline)), err);
}

int consumer_lock_waiting(struct pg *pg, const char *pipeline, struct buf *out, struct err *err)
{
    struct pg_result *r = NULL;
    struct pg *writer = pg;
    int rc = pg->primary.uri != NULL ? pg_writer(pg, &writer, err) : 0;
    if (rc == 0) {
        rc = pg_ask(writer, &r, "look_waiting", PG_PARAMS(WAITING_CLASS, HALF(pipeline)), err);
    }
    if (rc == 0 && pg_text(r, 0, 0) != NULL) {
        buf_push_text(out, pg_text(r, 0, 0));
    }
    pg_result_release(r);
    return rc;
}

static int consumer_lock_try_for_a_while(struct pg *pg, const char *consumer, bool *got,
                                         struct err *err)
{
    int64_t until_ms = pg_now_ms() + GONE_MS;
    int rc = consumer_lock_try(pg, consumer, got, err);
    while (rc == 0 && !*got && pg_now_ms() < until_ms) {
        clock_sleep(PAUSE_MS, NULL);
        rc = consumer_lock_try(pg, consumer, got, err);
    }
    return rc;
}

/* A holder that ends does not wait for its session to end. A killed one keeps the lock until its
 * current statement ends. So the lock is retried for a while. */
static int consumer_lock_on(struct pg *pg, const char *consumer, struct err *err)
{
    bool got;
    int rc = consumer_lock_try(pg, consumer, &got, err);
    if (rc == 0 && !got && pg->fences) {
        rc = consumer_lock_end_loser(pg, HALF(consumer), err);
    }
    if (rc == 0 && !got) {
        rc = consumer_lock_try_for_a_while(pg, consumer, &got, err);
    }
    return rc == 0 && !got ? consumer_lock_who(pg, consumer, err) : rc;
}

/* Takes the lock on the primary, if there is one: an advisory lock on a standby would not exclude
 * other standbys. Remembers the name, so that a new connection takes the lock again. */
static int consumer_lock_take(struct pg *pg, const char *name, bool claim, struct err *err)
{
    struct pg *writer = pg;
    int rc = pg->primary.uri != NULL ? pg_writer(pg, &writer, err) : 0;
    rc = rc == 0 ? consumer_lock_on(writer, name, err) : rc;
    if (rc == 0) {
        char **noted = claim ? &writer->locks.claimed : &writer->locks.held;
        char *copy = text_copy(name); /* name may be *noted itself */
        free(*noted);
        *noted = copy;
    }
    return rc;
}

int consumer_lock_hold(struct pg *pg, const char *consumer, struct err *err)
{
    return consumer_lock_take(pg, consumer, false, err);
}

int consumer_lock_claim(struct pg *pg, const char *name, struct err *err)
{
    return consumer_lock_take(pg, name, true, err);
}

int consumer_lock_forget(struct pg *pg, const char *consumer, struct err *err)
{
    bool gone = false;
    struct pg *writer = pg;
    int rc = pg_writer(pg, &writer, err);
    if (rc == 0) {
        rc = pg_ask_bool(writer, "consumer_forget", PG_PARAMS(consumer, LOCK_CLASS, HALF(consumer)),
                         &gone, err);
    }
    if (rc == 0 && !gone) {
        rc = consumer_lock_who(writer, consumer, err);
    }
    return rc < 0 ? err_context(err, "could not forget the consumer \"%s\"", consumer) : 0;
}
