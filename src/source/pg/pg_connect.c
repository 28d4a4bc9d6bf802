/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a connection within a time limit, sets up the session, and recovers it after an error. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pg/hosts.h"
#include "pg/pg_private.h"
#include "pg/pg_wait.h"
#include "pg/pooler.h"
#include "pg/rds_token.h"
#include "pg/sqlstate.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/rotating_secret.h"
#include "rowferry/base/stop.h"
#include "rowferry/base/text.h"
#include "rowferry/source/pg/consumer_lock.h"

#define MESSAGE_MAX_BYTES ((size_t)64 * 1024)
#define CONNECT_TIMEOUT_MS 10000
#define WRONG_PASSWORD "28P01"
/* PAM, by which clouds check their tokens, reports an old one so. */
#define NOT_AUTHORIZED "28000"
#define ENCRYPTION_HINT                                                                            \
    "another host is reached only with TLS: set ssl = on in the server, or sslmode=disable in "    \
    "source.uri if the network is trusted (sslmode=verify-full also verifies the server)"
#define BINDING_HINT                                                                               \
    "this server is not verified, so it does not get the password: set sslmode=verify-full and "   \
    "sslrootcert=FILE in source.uri; or have the server offer TLS and SCRAM; or set "              \
    "channel_binding=prefer if the network is trusted"

/* Otherwise libpq prints notices to stderr. */
static void pg_connect_ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

int64_t pg_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The lists that libpq tries in order, and that are rotated. */
enum { HOST, HOSTADDR, PORT, LISTS };
static const char *const list_names[LISTS] = {"host", "hostaddr", "port"};

/* Reads the connection's effective parameters; returns the number of hosts. */
static size_t pg_connect_turned_read(struct buf lists[LISTS], PGconn *conn, size_t turn)
{
    size_t most = 0;
    PQconninfoOption *options = PQconninfo(conn);
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        for (size_t i = 0; i < LISTS; i++) {
            if (o->val != NULL && strcmp(o->keyword, list_names[i]) == 0) {
                size_t count = hosts_count(o->val);
                hosts_turn(&lists[i], o->val, turn);
                most = count > most ? count : most;
            }
        }
    }
    PQconninfoFree(options);
    return most;
}

/* Keepalives and encryption precede the URI, which may override them; our own parameters follow it.
 * An empty value counts as unset. Settings are not among them: a connection pooler would keep them
 * for its next client. */
static PGconn *pg_connect_begin(const struct pg *pg, const struct buf lists[LISTS])
{
    const char *const names[] = {"keepalives",
                                 "keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "sslmode",
                                 "channel_binding",
                                 "dbname",
                                 "user",
                                 "password",
                                 list_names[HOST],
                                 list_names[HOSTADDR],
                                 list_names[PORT],
                                 NULL};
    const char *const values[] = {"1",
                                  "30",
                                  "10",
                                  "3",
                                  "60000",
                                  pg->route.encrypts ? "require" : NULL,
                                  pg->route.binds ? "require" : NULL,
                                  pg->uri,
                                  pg->role,
                                  pg->password,
                                  buf_text(&lists[HOST]),
                                  buf_text(&lists[HOSTADDR]),
                                  buf_text(&lists[PORT]),
                                  NULL};
    PGconn *conn = PQconnectStartParams(names, values, 1);
    if (conn != NULL) {
        PQsetNoticeReceiver(conn, pg_connect_ignore_notice, NULL);
        PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
    }
    return conn;
}

/* Runs the handshake until it succeeds, fails or times out. Returns true on a timeout. */
static bool pg_connect_handshake(struct pg *pg, int64_t deadline_ms)
{
    PGconn *conn = pg->conn;
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;
    while (PQstatus(conn) != CONNECTION_BAD && want != PGRES_POLLING_OK &&
           want != PGRES_POLLING_FAILED) {
        short events = want == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (!pg_wait_handshake(pg, conn, events, deadline_ms)) {
            return true;
        }
        want = PQconnectPoll(conn);
    }
    return false;
}

/* Returns true if no host of the source has an address, and none has ever been reached: the name is
 * wrong, so waiting does not help. A name service that fails for the moment says so. */
static bool pg_connect_is_unknown_host(const struct pg *pg, const char *message)
{
    return !pg->reached && strstr(message, "could not translate host name") != NULL &&
           strstr(message, "connection to server") == NULL && strstr(message, "emporary") == NULL;
}

static int pg_connect_refused(const struct pg *pg, struct err *err)
{
    struct buf line;
    char sqlstate[6];
    const char *message = PQerrorMessage(pg->conn);
    enum err_class class = sqlstate_of_connection(message, sqlstate);
    bool unknown_host = pg_connect_is_unknown_host(pg, message);
    class = unknown_host ? ERR_REJECTED : class;
    buf_init(&line, MESSAGE_MAX_BYTES);
    sqlstate_one_line(&line, message, pg->password);
    err_set(err, class, "%s connect to the source: %s",
            class == ERR_TRANSIENT ? "could not" : "cannot", buf_text(&line));
    if (class == ERR_CONFIG) {
        err_hint(err, "see source.uri");
    } else if (unknown_host) {
        err_hint(err, "correct the host in source.uri, or the name server of this machine");
    } else if (strstr(message, "server does not support SSL") != NULL) {
        err_hint(err, pg->route.encrypts ? ENCRYPTION_HINT : "see sslmode in source.uri");
    } else if (strstr(message, "hannel binding") != NULL) {
        err_hint(err, pg->route.binds ? BINDING_HINT : "see channel_binding in source.uri");
    } else if (strcmp(sqlstate, WRONG_PASSWORD) == 0 ||
               strstr(message, "PAM authentication failed") != NULL ||
               strstr(message, "no password supplied") != NULL) {
        err_hint(err, "see source.password");
    }
    memcpy(err->sqlstate, sqlstate, sizeof(sqlstate));
    buf_release(&line);
    return class;
}

static int pg_connect_set_up(struct pg *pg, struct err *err)
{
    struct buf sql;
    int rc = pooler_ask(pg, &pg->backend, &pg->in_recovery, err);
    rc = rc == 0 ? pooler_check(pg, err) : rc;
    if (rc < 0) {
        return rc;
    }
    char *name = PQescapeLiteral(pg->conn, pg->application_name, strlen(pg->application_name));
    buf_init(&sql, MESSAGE_MAX_BYTES);
    buf_push_text(&sql, embed_text(source_sql, "session"));
    buf_printf(&sql, "set lock_timeout = %" PRId64 ";set application_name = %s",
               pg->lock_timeout_ms, name != NULL ? name : "default");
    rc = pg_script(pg, buf_text(&sql), err);
    buf_release(&sql);
    PQfreemem(name);
    pg->set_up = rc == 0;
    if (rc < 0) {
        return err_context(err, "could not set the session up");
    }
    rc = pg_refuse_old(pg, err);
    return rc == 0 ? pg_look_server(pg, &pg->in_recovery, err) : rc;
}

static void pg_connect_leave_primary(struct pg *pg)
{
    pg_close(pg->primary.session);
    pg->primary.session = NULL;
}

/* Connects until the handshake has ended, with success or failure. Sets *silent if it timed out. */
static void pg_connect_shake_hands(struct pg *pg, size_t *host_count, bool *silent)
{
    struct buf lists[LISTS];
    for (size_t i = 0; i < LISTS; i++) {
        buf_init(&lists[i], MESSAGE_MAX_BYTES);
    }
    if (pg->probes) {
        buf_push_text(&lists[HOST], pg->only.host);
        buf_push_text(&lists[HOSTADDR], pg->only.hostaddr);
        buf_push_text(&lists[PORT], pg->only.port);
    }
    pg->conn = pg_connect_begin(pg, lists);
    *host_count = pg->probes ? 1 : pg_connect_turned_read(lists, pg->conn, pg->route.turn);
    if (*host_count > 1 && pg->route.turn % *host_count > 0) {
        PQfinish(pg->conn);
        pg->conn = pg_connect_begin(pg, lists);
    }
    *silent = pg->conn != NULL && pg_connect_handshake(pg, pg_now_ms() + pg->connect_timeout_ms);
    for (size_t i = 0; i < LISTS; i++) {
        buf_release(&lists[i]);
    }
}

static int pg_connect_once(struct pg *pg, struct err *err)
{
    size_t host_count = 1;
    bool silent = true;
    pg_connect_leave_primary(pg);
    if (stop_asked() && pg->silence.stopping_ms < PG_STOP_MS - PG_STOP_LATE_MS) {
        pg->silence.stopping_ms = PG_STOP_MS - PG_STOP_LATE_MS; /* it serves only for cleanup now */
    }
    memset(pg->prepared, 0, sizeof(pg->prepared));
    pg->log_trusted = false;
    pooler_leave(pg);
    pg->set_up = false;
    for (size_t tried = 0; silent && tried < host_count; tried++) {
        PQfinish(pg->conn);
        pg_connect_shake_hands(pg, &host_count, &silent);
        pg->route.turn += silent; /* try the next host first if this one does not answer */
    }
    if (pg->conn == NULL) {
        return err_set(err, ERR_TRANSIENT, "could not connect to the source: out of memory");
    }
    if (silent) {
        return err_set(err, ERR_TRANSIENT,
                       "could not connect to the source: no answer within %" PRId64 " ms",
                       pg->connect_timeout_ms);
    }
    if (PQstatus(pg->conn) != CONNECTION_OK) {
        return pg_connect_refused(pg, err);
    }
    pg->reached = true;
    PQsetErrorVerbosity(pg->conn, PQERRORS_DEFAULT);
    if (PQsetnonblocking(pg->conn, 1) != 0) {
        return pg_fail(pg, NULL, err);
    }
    return pg->probes ? 0 : pg_connect_set_up(pg, err);
}

static void pg_connect_forget_password(struct pg *pg)
{
    text_wipe(pg->password);
    free(pg->password);
}

int pg_connect(struct pg *pg, struct err *err)
{
    if (pg->renewal != NULL) { /* another connection may have read a newer one */
        char *now = rotating_secret_take(pg->renewal, NULL);
        pg_connect_forget_password(pg);
        pg->password = now;
    }
    int rc = pg->rds_region == NULL
                 ? 0
                 : rds_token_renew(&pg->password, pg->uri, pg->role, pg->rds_region, err);
    rc = rc == 0 ? pg_connect_once(pg, err) : rc;
    bool wrong = rc < 0 && (strcmp(err->sqlstate, WRONG_PASSWORD) == 0 ||
                            strcmp(err->sqlstate, NOT_AUTHORIZED) == 0);
    return wrong && rotating_secret_replace(pg->renewal, &pg->password) ? pg_connect_once(pg, err)
                                                                        : rc;
}

/* A session survives the promotion of its standby. */
static bool pg_connect_was_promoted(struct pg *pg)
{
    struct err ignored;
    bool still = false;
    return pg->in_recovery && pg_look_server(pg, &still, &ignored) == 0 && !still;
}

static bool pg_connect_is_well(struct pg *pg)
{
    PGTransactionStatusType status = PQtransactionStatus(pg->conn);
    if (PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF &&
        (status == PQTRANS_INTRANS || status == PQTRANS_INERROR)) {
        struct err ignored;
        return pg_script(pg, "rollback", &ignored) == 0;
    }
    return status == PQTRANS_IDLE && PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF;
}

int pg_recover(struct pg *pg, struct err *err)
{
    if (pg->primary.session != NULL) {
        int rc = pg_recover(pg->primary.session, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (pg_connect_is_well(pg) && !pg_connect_was_promoted(pg)) {
        return 0;
    }
    int rc = pg_connect(pg, err);
    if (rc == 0 && pg->locks.claimed != NULL) {
        rc = consumer_lock_claim(pg, pg->locks.claimed, err);
    }
    if (rc == 0 && pg->locks.held != NULL) {
        rc = consumer_lock_hold(pg, pg->locks.held, err);
    }
    return rc;
}

static int pg_connect_check_primary(struct pg *standby, struct pg *primary, struct err *err)
{
    struct pg_identity here = {0};
    struct pg_identity there = {0};
    int rc = pg_identify(standby, &here, err);
    if (rc == 0) {
        rc = pg_identify(primary, &there, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (there.in_recovery) {
        return err_set(err, ERR_REJECTED, "source.primary is not a primary: it is in recovery");
    }
    if (strcmp(here.system, there.system) != 0 || strcmp(here.database, there.database) != 0) {
        return err_set(err, ERR_REJECTED,
                       "source.primary is another database than that of source.uri (system %s, "
                       "database \"%s\", in place of system %s, database \"%s\")",
                       there.system, there.database, here.system, here.database);
    }
    return 0;
}

/* The settings for another connection like this one. */
static struct source_options pg_connect_options(const struct pg *pg)
{
    return (struct source_options){.uri = pg->uri,
                                   .primary = pg->primary.uri,
                                   .role = pg->role,
                                   .password = pg->password,
                                   .renewal = pg->renewal,
                                   .rds_region = pg->rds_region,
                                   .connect_timeout_ms = pg->connect_timeout_ms,
                                   .lock_timeout_ms = pg->lock_timeout_ms,
                                   .silence_ms = pg->silence.limit_ms,
                                   .application_name = pg->application_name,
                                   .first_host = pg->route.turn};
}

static int pg_connect_open_primary(struct pg *pg, struct err *err)
{
    struct source_options options = pg_connect_options(pg);
    options.uri = pg->primary.uri;
    options.primary = NULL;
    options.first_host = 0;
    options.fences = pg->fences;
    int rc = pg_open(&pg->primary.session, &options, err);
    if (rc < 0) {
        return err_context(err, "source.primary");
    }
    rc = pg_connect_check_primary(pg, pg->primary.session, err);
    if (rc < 0) {
        pg_connect_leave_primary(pg);
    }
    return rc;
}

int pg_writer(struct pg *pg, struct pg **out, struct err *err)
{
    *out = pg;
    if (!pg->in_recovery) {
        return 0;
    }
    if (pg->primary.uri == NULL) {
        err_set(err, ERR_REJECTED,
                "the source is a standby, and the change log can be written on its primary only");
        return err_hint(err, "name the primary in source.primary, or connect to it");
    }
    int rc = pg->primary.session == NULL ? pg_connect_open_primary(pg, err) : 0;
    *out = pg->primary.session;
    return rc;
}

int pg_check_primary(struct pg *pg, struct err *err)
{
    struct pg *primary;
    return pg_writer(pg, &primary, err);
}

static char *pg_connect_copy_or_null(const char *text)
{
    return text != NULL ? text_copy(text) : NULL;
}

/* A connection that is not made yet. */
static struct pg *pg_connect_new(const struct source_options *options)
{
    struct pg *pg = mem_zero(1, sizeof(*pg));
    const char *application = options->application_name;
    pg->uri = text_copy(options->uri);
    pg->role = pg_connect_copy_or_null(options->role);
    pg->password = pg_connect_copy_or_null(options->password);
    pg->renewal = rotating_secret_hold(options->renewal);
    pg->rds_region = pg_connect_copy_or_null(options->rds_region);
    pg->route.encrypts = pg_must_encrypt(pg->uri);
    pg->route.binds = pg_must_bind(pg->uri, pg->rds_region != NULL ? "token" : pg->password);
    pg->application_name = text_copy(application != NULL ? application : "rowferry");
    pg->primary.uri = pg_connect_copy_or_null(options->primary);
    pg->fences = options->fences;
    pg->connect_timeout_ms =
        options->connect_timeout_ms > 0 ? options->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    pg->lock_timeout_ms = options->lock_timeout_ms;
    pg->route.turn = options->first_host;
    pg->answer.small_bytes = PG_ANSWER_MAX_BYTES;
    pg->silence.limit_ms = options->silence_ms > 0 ? options->silence_ms : PG_SILENCE_MS;
    return pg;
}

/* Hands the connection out, or closes it after an error. */
static int pg_connect_hand_out(struct pg **out, struct pg *pg, int rc)
{
    *out = rc == 0 ? pg : NULL;
    if (rc < 0) {
        pg_close(pg);
    }
    return rc;
}

int pg_open(struct pg **out, const struct source_options *options, struct err *err)
{
    struct pg *pg = pg_connect_new(options);
    int rc = pg_connect(pg, err);
    if (options->needs_password != NULL) {
        *options->needs_password = rc < 0 && PQconnectionNeedsPassword(pg->conn);
    }
    rc = rc == 0 && options->refuse_superuser ? pg_refuse_superuser(pg, err) : rc;
    return pg_connect_hand_out(out, pg, rc);
}

int pg_open_like(struct pg **out, const struct pg *pg, struct err *err)
{
    const struct source_options options = pg_connect_options(pg);
    struct pg *another = pg_connect_new(&options);
    another->reached = pg->reached;
    return pg_connect_hand_out(out, another, pg_connect(another, err));
}

static char *pg_connect_copy_or_empty(const char *text)
{
    return text_copy(text != NULL ? text : "");
}

int pg_open_probe(struct pg **out, const struct pg *pg, struct err *err)
{
    struct source_options options = pg_connect_options(pg);
    options.renewal = NULL;
    options.primary = NULL;
    options.silence_ms = pg->connect_timeout_ms;
    struct pg *probe = pg_connect_new(&options);
    probe->probes = true;
    probe->only = (struct pg_address){pg_connect_copy_or_empty(PQhost(pg->conn)),
                                      pg_connect_copy_or_empty(PQhostaddr(pg->conn)),
                                      pg_connect_copy_or_empty(PQport(pg->conn))};
    return pg_connect_hand_out(out, probe, pg_connect_once(probe, err));
}

void pg_close(struct pg *pg)
{
    if (pg == NULL) {
        return;
    }
    pg_connect_leave_primary(pg);
    pooler_leave(pg);
    PQfinish(pg->conn);
    pg_connect_forget_password(pg);
    rotating_secret_drop(pg->renewal);
    free(pg->rds_region);
    free(pg->uri);
    free(pg->role);
    free(pg->primary.uri);
    free(pg->application_name);
    free(pg->locks.held);
    free(pg->locks.claimed);
    free(pg->only.host);
    free(pg->only.hostaddr);
    free(pg->only.port);
    free(pg);
}
