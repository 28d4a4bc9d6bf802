/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a verifier: runs each comparison when it is due. */
#include "rowferry/daemon/verifier.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rowferry/base/log.h"
#include "rowferry/document/json/json_tree.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/request.h"
#include "rowferry/state/verification.h"

#define SETTLE_MS 30000
#define LOOK_MS 5000     /* maximum pause until the next look for an index */
#define FAILED_MS 600000 /* maximum pause after a failed comparison */
#define SLEEP_MS 3600000 /* maximum sleep, because the wall clock may be changed */
#define ANSWER_MS 100
#define REPAIR_KEYS 1000 /* maximum number per request */
#define TURN_MS 1000     /* interval of looks while another pipeline compares */
#define ANSWER_BYTES ((size_t)64 * 1024)

/* Set while a pipeline of this process compares. They take turns, because each needs two sessions
 * of the source, and reads all of its table. */
static atomic_flag verifier_compares = ATOMIC_FLAG_INIT;

static bool verifier_stopping(const struct verifier *v)
{
    return __atomic_load_n(&v->stop, __ATOMIC_RELAXED) != 0;
}

/* Waits for `ms` or until verifier_stop. */
static void verifier_rest(struct verifier *v, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&v->lock);
    int rc = 0;
    while (rc == 0 && !verifier_stopping(v)) {
        rc = pthread_cond_timedwait(&v->changed, &v->lock, &until);
    }
    pthread_mutex_unlock(&v->lock);
}

/* --- repair ----------------------------------------------------------------------------------- */

static int verifier_refusal(const struct buf *answer, struct err *err)
{
    struct json_object *parsed = json_tree_of(buf_text(answer));
    const char *why = json_object_get_string(json_tree_member(parsed, "error"));
    int rc = err_set(err, ERR_STATE, "%s", why != NULL ? why : "the request failed");
    json_object_put(parsed);
    return rc;
}

/* Waits for the holder's answer. If this process stops first, the next holder carries the
 * request out. */
static int verifier_await_answer(struct verifier *v, int64_t id, struct err *err)
{
    enum request_state state = REQUEST_FILED;
    struct buf answer;
    int rc = 0;
    buf_init(&answer, ANSWER_BYTES);
    while (rc == 0 && !verifier_stopping(v) && state != REQUEST_DONE && state != REQUEST_FAILED) {
        verifier_rest(v, ANSWER_MS);
        buf_reset(&answer);
        rc = request_look(v->session.state, id, &state, &answer, err);
    }
    if (rc == 0 && state == REQUEST_FAILED) {
        rc = verifier_refusal(&answer, err);
    }
    buf_release(&answer);
    return rc;
}

static int verifier_ask(struct verifier *v, const struct buf *keys, struct err *err)
{
    struct session *s = &v->session;
    int64_t id;
    if (keys->failed) {
        return err_set(err, ERR_TRANSIENT, "no memory for a request");
    }
    int rc =
        request_file(s->state, REQUEST_RESYNC, buf_text(keys), clock_wall_us(&s->clock), &id, err);
    return rc == 0 ? verifier_await_answer(v, id, err) : rc;
}

static int verifier_send_keys(struct verifier *v, const struct repair_keys *keys, int64_t *sent,
                              struct err *err)
{
    struct buf arguments;
    struct span key;
    size_t at = 0;
    bool more = true;
    int rc = 0;
    buf_init(&arguments, REQUEST_MAX_BYTES);
    while (rc == 0 && more && !verifier_stopping(v)) {
        int64_t count = 0;
        buf_reset(&arguments);
        /* leaves room for escapes, which may double a key */
        while (count < REPAIR_KEYS && arguments.len < REQUEST_MAX_BYTES / 4 &&
               (more = repairs_keys_next(keys, &at, &key))) {
            keylist_push_key(&arguments, key);
            count++;
        }
        rc = count > 0 ? verifier_ask(v, &arguments, err) : 0;
        *sent += rc == 0 ? count : 0;
    }
    buf_release(&arguments);
    return rc;
}

/* Records which differences are not repaired, and why. */
static void verifier_report_left(struct verifier *v, bool guarded, struct verification *out)
{
    const struct repairs *r = &v->repairs;
    size_t left_out = r->changed.left_out + r->extra.left_out;
    if (guarded) {
        snprintf(out->message, sizeof(out->message),
                 "the guard stopped the deletion of %lld extra document%s: rowferry verify "
                 "--repair --allow-deletes %s",
                 (long long)out->extra, out->extra == 1 ? "" : "s", v->pipeline);
    } else if (r->fixed > 0) {
        snprintf(out->message, sizeof(out->message),
                 "%zu remain: a data stream takes no updates and no deletes", r->fixed);
    } else if (r->impossible > 0) {
        snprintf(out->message, sizeof(out->message),
                 "%zu extra document%s that no row can have: delete by hand", r->impossible,
                 r->impossible == 1 ? " has an id" : "s have ids");
    } else if (left_out > 0) {
        snprintf(out->message, sizeof(out->message), "left for the next verification: %zu",
                 left_out);
    }
}

static int verifier_repair(struct verifier *v, struct verification *out, struct err *err)
{
    bool guarded = v->repairs.fixed == 0 &&
                   !repairs_guard_passes(&v->session.pipeline->delete_guard, &v->result);
    int rc = verifier_send_keys(v, &v->repairs.changed, &out->sent, err);
    if (rc == 0 && !guarded) {
        rc = verifier_send_keys(v, &v->repairs.extra, &out->sent, err);
    }
    verifier_report_left(v, guarded, out);
    log_event(LOG_INFO, "verify_repaired", F_TEXT("pipeline", v->pipeline),
              F_INT("sent", out->sent), F_TEXT("left", out->message[0] ? out->message : NULL));
    return rc;
}

/* --- one comparison --------------------------------------------------------------------------- */

static void verifier_on_found(void *context, const struct verify_found *found)
{
    struct verifier *v = context;
    if (v->session.pipeline->verify.repair) {
        repairs_add(&v->repairs, v->session.pipeline->to.kind == INDEX_KIND_DATA_STREAM, found);
    }
}

static void verifier_on_again(void *context)
{
    struct verifier *v = context;
    repairs_reset(&v->repairs);
}

static int verifier_look(struct verifier *v, struct err *err)
{
    struct session *s = &v->session;
    struct pipeline_options pipeline;
    struct pipeline_ports ports;
    struct source_options source;
    struct listing_options listing;
    int rc = session_open_service(s, err);
    if (rc < 0) {
        return rc;
    }
    session_open_table(s);
    session_options(s, &pipeline);
    session_ports(s, &ports);
    session_source_options(s, &source);
    session_listing(s, NULL, &listing);
    struct verify_options options = {.pipeline = &pipeline,
                                     .fields = s->pipeline->fields,
                                     .field_count = s->pipeline->field_count,
                                     .settle_ms = SETTLE_MS,
                                     .stop = &v->stop,
                                     .found = verifier_on_found,
                                     .again = verifier_on_again,
                                     .context = v};
    struct verify_ports all = {&ports, s->service, &source, &listing};
    return verify_run(&options, &all, &v->result, err);
}

static void verifier_fill(struct verifier *v, struct verification *out)
{
    const struct verify_result *r = &v->result;
    *out = (struct verification){.rows = r->rows,
                                 .documents = r->documents,
                                 .missing = r->found[VERIFY_MISSING],
                                 .extra = r->found[VERIFY_EXTRA],
                                 .altered = r->found[VERIFY_ALTERED],
                                 .dead_letters = r->found[VERIFY_LETTER],
                                 .waiting = r->waiting,
                                 .restored = repairs_look_restored(r)};
    if (out->restored) {
        log_event(LOG_WARN, "index_looks_restored", F_TEXT("pipeline", v->pipeline),
                  F_INT("missing", out->missing), F_INT("altered", out->altered),
                  F_INT("extra", out->extra));
    }
}

/* Compares, repairs and records the result. A stopped comparison is not recorded. */
static int verifier_compare(struct verifier *v, struct err *err)
{
    struct clock *clock = &v->session.clock;
    struct verification out = {0};
    int64_t began_us = clock_monotonic_us(clock);
    int rc = verifier_look(v, err);
    if (rc == 0) {
        verifier_fill(v, &out);
    }
    if (rc == 0 && !verifier_stopping(v) && verification_differences(&out) > 0 &&
        v->session.pipeline->verify.repair) {
        rc = verifier_repair(v, &out, err);
    }
    if (out.waiting > 0 && out.message[0] == '\0') {
        snprintf(out.message, sizeof(out.message), "%s",
                 v->result.halted ? "the guard stopped the pipeline" : "it is tried again");
    }
    if (verifier_stopping(v)) {
        return 0;
    }
    if (rc < 0) {
        log_err(LOG_ERROR, "verify_failed", v->pipeline, err);
        snprintf(out.message, sizeof(out.message), "%s", err->message);
        out.failed = true;
    }
    out.took_ms = (clock_monotonic_us(clock) - began_us) / 1000;
    out.ended_us = clock_wall_us(clock);
    return verification_write(v->session.state, &out, err);
}

/* --- schedule --------------------------------------------------------------------------------- */

static int64_t verifier_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sets *ms to the time until the next comparison; 0 if it is due now. */
static int verifier_due(struct verifier *v, int64_t *ms, struct err *err)
{
    struct session *s = &v->session;
    int64_t every_ms = s->pipeline->verify.every_ms;
    struct verification last;
    struct checkpoint checkpoint = {0};
    bool known = false;
    int rc = checkpoint_load(s->state, &checkpoint, err);
    bool live = rc == 0 && checkpoint.phase == GENERATION_LIVE;
    checkpoint_release(&checkpoint);
    if (rc == 0) {
        rc = verification_read(s->state, &last, &known, err);
    }
    if (rc == 0 && !live) {
        *ms = verifier_least(every_ms, LOOK_MS);
    } else if (rc == 0) {
        bool concluded = !last.failed && last.waiting == 0;
        int64_t pause_ms = !concluded ? verifier_least(every_ms, FAILED_MS) : every_ms;
        int64_t left_ms = pause_ms - (clock_wall_us(&s->clock) - last.ended_us) / 1000;
        *ms = !known || left_ms > pause_ms || left_ms < 0 ? 0 : verifier_least(left_ms, SLEEP_MS);
    }
    return rc;
}

/* Runs a comparison if one is due; otherwise sets *ms to the time to wait. */
static int verifier_turn(struct verifier *v, const struct config *config, int64_t *ms,
                         struct err *err)
{
    struct session *s = &v->session;
    int rc = session_init(s, config, config_pipeline(config, v->pipeline), "verify", err);
    if (rc == 0) {
        rc = session_open_state(s, err);
    }
    if (rc == 0) {
        rc = verifier_due(v, ms, err);
    }
    if (rc == 0 && *ms == 0 && atomic_flag_test_and_set(&verifier_compares)) {
        *ms = TURN_MS;
    } else if (rc == 0 && *ms == 0) {
        repairs_init(&v->repairs);
        rc = verifier_compare(v, err);
        repairs_release(&v->repairs);
        atomic_flag_clear(&verifier_compares);
    }
    session_release(s);
    return rc;
}

static void *verifier_run(void *argument)
{
    struct verifier *v = argument;
    while (!verifier_stopping(v)) {
        struct err err;
        int64_t ms = LOOK_MS;
        struct reading *reading = settings_reload_take(v->settings);
        if (verifier_turn(v, &reading->config, &ms, &err) < 0) {
            log_err(LOG_WARN, "verify_failed", v->pipeline, &err); /* the state file is
                                                                    * unavailable */
            ms = LOOK_MS;
        }
        settings_reload_drop(v->settings, reading);
        verifier_rest(v, ms);
    }
    return NULL;
}

int verifier_start(struct verifier *v, const char *pipeline, struct settings_reload *settings,
                   struct err *err)
{
    struct reading *reading = settings_reload_take(settings);
    bool wanted = config_pipeline(&reading->config, pipeline)->verify.every_ms > 0;
    settings_reload_drop(settings, reading);
    *v = (struct verifier){.pipeline = pipeline, .settings = settings};
    if (!wanted) {
        return 0;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&v->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&v->lock, NULL);
    int failed = pthread_create(&v->thread, NULL, verifier_run, v);
    v->started = failed == 0;
    return failed == 0
               ? 0
               : err_set(err, ERR_TRANSIENT, "could not start a thread: %s", strerror(failed));
}

void verifier_stop(struct verifier *v)
{
    if (!v->started) {
        return;
    }
    pthread_mutex_lock(&v->lock);
    __atomic_store_n(&v->stop, 1, __ATOMIC_RELAXED);
    pthread_cond_signal(&v->changed);
    pthread_mutex_unlock(&v->lock);
    pthread_join(v->thread, NULL);
    pthread_cond_destroy(&v->changed);
    pthread_mutex_destroy(&v->lock);
    v->started = false;
}
