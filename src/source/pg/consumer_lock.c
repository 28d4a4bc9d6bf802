/* SPDX-License-Identifier: Apache-2.0 */
/* The advisory lock of a pipeline's consumer. */
#include "rowferry/source/pg/consumer_lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"

#define LOCK_CLASS "1380927302" /* our class among the advisory locks of the database */
#define GONE_MS 3000            /* the server may not have noticed yet that a holder has ended */
#define PAUSE_MS 20

/* Ends the session of a run that has lost the pipeline without noticing. A role may end only its
 * own sessions. */
static int consumer_lock_end_loser(struct pg *pg, const char *const *params, struct err *err)
{
    struct pg_result *holder = NULL;
    struct err ignored;
    int rc = pg_ask(pg, &holder, "look_holder", params, 2, err);
    if (rc == 0 && pg_rows(holder) > 0 &&
        strcmp(pg_text(holder, 0, 2), pg->application_name) == 0) {
        const char *const session[] = {pg_text(holder, 0, 0)};
        (void)!pg_query(pg, NULL, NULL, "select pg_terminate_backend($1::integer)", session, 1,
                        &ignored);
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
            "the lock of \"%s\" is taken by the session %" PRId64
            " of role \"%s\" from %s, and that role can be no holder of it",
            consumer, pg_int(r, 0, 0), pg_text(r, 0, 4), pg_text(r, 0, 1));
    return err_hint(err,
                    "end that session: select pg_terminate_backend(%" PRId64
                    "), and revoke CONNECT from who should not have it",
                    pg_int(r, 0, 0));
}

/* Returns ERR_HELD with the lock holder. Its session may have ended by now, or be invisible to this
 * role. */
static int consumer_lock_name_holder(struct pg *pg, const char *consumer, const char *const *params,
                                     struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "look_holder", params, 2, err);
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

static int consumer_lock_try_once(struct pg *pg, const char *const *params, bool *got,
                                  struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_query(pg, &r, "one: bool", "select pg_try_advisory_lock($1::integer, $2::integer)",
                      params, 2, err);
    *got = rc == 0 && pg_true(r, 0, 0);
    pg_result_release(r);
    return rc;
}

struct lock_key {
    char half[16];
    const char *params[2];
};

static void consumer_lock_key(struct lock_key *k, const char *consumer)
{
    snprintf(k->half, sizeof(k->half), "%" PRId32,
             (int32_t)(uint32_t)text_hash(consumer, strlen(consumer)));
    k->params[0] = LOCK_CLASS;
    k->params[1] = k->half;
}

static int consumer_lock_try_for_a_while(struct pg *pg, const char *const *params, bool *got,
                                         struct err *err)
{
    int64_t until_ms = pg_now_ms() + GONE_MS;
    int rc = consumer_lock_try_once(pg, params, got, err);
    while (rc == 0 && !*got && pg_now_ms() < until_ms) {
        clock_sleep(PAUSE_MS, NULL);
        rc = consumer_lock_try_once(pg, params, got, err);
    }
    return rc;
}

/* A holder that ends does not wait for its session to end. A killed one keeps the lock until its
 * current statement ends. So the lock is retried for a while. An advisory lock on a standby would
 * not exclude other standbys. */
static int consumer_lock_on(struct pg *pg, const char *consumer, struct err *err)
{
    struct lock_key key;
    bool got;
    consumer_lock_key(&key, consumer);
    int rc = consumer_lock_try_once(pg, key.params, &got, err);
    if (rc == 0 && !got && pg->fences) {
        rc = consumer_lock_end_loser(pg, key.params, err);
    }
    if (rc == 0 && !got) {
        rc = consumer_lock_try_for_a_while(pg, key.params, &got, err);
    }
    if (rc == 0 && !got) {
        rc = consumer_lock_name_holder(pg, consumer, key.params, err);
    }
    return rc;
}

/* Remembers the name, so that a new connection takes the lock again. */
static void consumer_lock_note(char **noted, const char *name)
{
    char *copy = text_copy(name); /* name may be *noted itself */
    free(*noted);
    *noted = copy;
}

int consumer_lock_hold(struct pg *pg, const char *consumer, struct err *err)
{
    struct pg *writer = pg;
    int rc = pg->primary_uri != NULL ? pg_writer(pg, &writer, err) : 0;
    rc = rc == 0 ? consumer_lock_on(writer, consumer, err) : rc;
    if (rc == 0) {
        consumer_lock_note(&writer->held, consumer);
    }
    return rc;
}

int consumer_lock_claim(struct pg *pg, const char *name, struct err *err)
{
    struct pg *writer = pg;
    int rc = pg->primary_uri != NULL ? pg_writer(pg, &writer, err) : 0;
    rc = rc == 0 ? consumer_lock_on(writer, name, err) : rc;
    if (rc == 0) {
        consumer_lock_note(&writer->claimed, name);
    }
    return rc;
}

int consumer_lock_forget(struct pg *pg, const char *consumer, struct err *err)
{
    struct lock_key key;
    struct pg *writer = pg;
    struct pg_result *r = NULL;
    consumer_lock_key(&key, consumer);
    const char *const params[] = {consumer, key.params[0], key.params[1]};
    int rc = pg_writer(pg, &writer, err);
    if (rc == 0) {
        rc = pg_ask(writer, &r, "consumer_forget", params, 3, err);
    }
    if (rc == 0 && !pg_true(r, 0, 0)) {
        rc = consumer_lock_name_holder(writer, consumer, key.params, err);
    }
    pg_result_release(r);
    return rc < 0 ? err_context(err, "could not forget the consumer \"%s\"", consumer) : 0;
}

int consumer_lock_try(struct pg *pg, const char *consumer, bool *got, struct err *err)
{
    struct lock_key key;
    consumer_lock_key(&key, consumer);
    return consumer_lock_try_once(pg, key.params, got, err);
}

int consumer_lock_who(struct pg *pg, const char *consumer, struct err *err)
{
    struct lock_key key;
    consumer_lock_key(&key, consumer);
    return consumer_lock_name_holder(pg, consumer, key.params, err);
}
