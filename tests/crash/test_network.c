/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agent, PostgreSQL and service on hosts of their own (hosts.h), with network faults: frames are
 * lost, delayed, reordered or duplicated; wires are cut in one or both directions; a peer
 * disappears silently and comes back restarted; a holder's host disappears. After each fault the
 * network recovers, and the index must equal the table within a minute.
 *
 * $ROWFERRY_NETWORK_S (1): duration of each fault. With $ROWFERRY_NETWORK_PATIENT the agent uses
 * its default timeouts, otherwise short ones from its configuration.
 */
#include "hosts.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster.h"
#include "crash.h"
#include "http.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define ROWS 1000
#define SERVICE_PORT 9200
#define WITHIN_MS 60000        /* until the index is equal again */
#define NOTICED_MS 20000       /* with the timeouts of this test */
#define NOTICED_SELF_MS 120000 /* with the default timeouts: a minute, and one or two attempts */
#define TAKEOVER_MS 30000      /* 11 s, plus connection times on a busy machine */
#define SKIPPED 77

static struct cluster cluster;

struct net {
    struct world w;
    struct program agent;
    char *data;
    char *key;
    int64_t changes;
};

/* --- hosts ----------------------------------------------------------------------------------- */

static bool is_patient(void)
{
    return getenv("ROWFERRY_NETWORK_PATIENT") != NULL;
}

static void service_start(struct net *n)
{
    char listen[32];
    snprintf(listen, sizeof(listen), "%s:%d", hosts_address(HOST_SERVICE), SERVICE_PORT);
    hosts_enter(HOST_SERVICE);
    devsearch_start_at(&n->w.service, SERVICE_PORT,
                       (const char *const[]){"--api-key-file", n->key, "--data", n->data,
                                             "--faults", "--listen", listen, NULL});
    hosts_enter(HOST_TESTER);
    snprintf(n->w.service.url, sizeof(n->w.service.url), "http://%s", listen);
}

static char *configuration(const struct net *n, const char *name)
{
    char file[64];
    char *text = NULL;
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s?sslmode=disable%s\"}, "
                 "\"service\": {\"url\": \"%s\", "
                 "\"allow_cleartext_credentials\": true, \"auth\": {\"api_key\": {\"file\": "
                 "\"%s\"}}}, \"state\": {\"path\": \"%s/%s.db\"}%s, \"pipelines\": "
                 "[{\"name\": \"articles\", \"from\": {\"table\": \"public.articles\"}, \"to\": "
                 "{\"index\": \"shop-articles\", \"mappings\": {\"properties\": {%s}}}}]}",
                 n->w.uri,
                 is_patient() ? ""
                              : "&keepalives_idle=1&keepalives_interval=1&keepalives_count=2"
                                "&tcp_user_timeout=3000",
                 n->w.service.url, n->key, n->w.dir, name,
                 is_patient() ? "" : ", \"limits\": {\"request_timeout\": \"3s\"}",
                 CRASH_PROPERTIES),
        0);
    snprintf(file, sizeof(file), "%s.json", name);
    char *path = scratch_write(n->w.dir, file, text);
    free(text);
    return path;
}

static void run_on(enum host host, struct program *p, const char *config, const char *option)
{
    hosts_enter(host);
    rowferry_start(p, config, "run", option, NULL);
    hosts_enter(HOST_TESTER);
}

/* Commits synchronously, because a crash must keep answered commits or the index would be ahead. */
static void open_writer(struct net *n)
{
    n->w.conn = sql_open(n->w.uri);
    sql_exec(n->w.conn, "set synchronous_commit = on");
}

/* The service first listens at the world's address, then on its own host. */
static void net_start(struct net *n)
{
    *n = (struct net){0};
    hosts_connect((uint64_t)crash_dice(1000000));
    n->data = scratch_new();
    world_start(&n->w, ROWS, (const char *const[]){"--data", n->data, NULL});
    n->key = scratch_path(n->w.dir, "key");
    devsearch_stop(&n->w.service);
    service_start(n);
    PQfinish(n->w.conn);
    open_writer(n);
    free(n->w.config);
    n->w.config = configuration(n, "articles");
    world_install(&n->w);
    run_on(HOST_AGENT, &n->agent, n->w.config, NULL);
    program_await(&n->agent, "event=following", WAIT_MS);
}

static void net_stop(struct net *n)
{
    world_stop(&n->w);
    wires_stop();
    scratch_remove(n->data);
    free(n->key);
}

static void end_well(struct program *p)
{
    struct program_result result;
    program_signal(p, SIGTERM);
    program_finish(p, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
}

/* --- changes and recovery -------------------------------------------------------------------- */

static void change(struct net *n)
{
    int64_t id = 1 + crash_dice(ROWS);
    sql_exec(n->w.conn,
             "update articles set title = 'change %lld' where source_id between %lld and %lld;"
             "delete from articles where source_id = %lld;"
             "insert into articles (source_id, title) values (%lld, 'new')",
             (long long)n->changes, (long long)id, (long long)(id + 20),
             (long long)(1 + crash_dice(ROWS)), (long long)(ROWS + 1 + n->changes));
    n->changes++;
}

static void change_for(struct net *n, int64_t ms)
{
    struct deadline end = deadline_after(ms);
    do {
        struct deadline turn = deadline_after(20);
        change(n);
        while (deadline_wait(&turn)) {
        }
    } while (deadline_wait(&end));
}

static int64_t trouble_ms(void)
{
    return crash_setting("ROWFERRY_NETWORK_S", 1) * 1000;
}

/* Waits until equal and returns the time it took. */
static int64_t await_equal(struct net *n, const char *after)
{
    int64_t took_ms = crash_await_equal(&n->w, &n->agent);
    ck_assert_msg(took_ms <= WITHIN_MS, "equal only %lld ms after %s", (long long)took_ms, after);
    return took_ms;
}

/* --- faults ---------------------------------------------------------------------------------- */

static const struct wires_rule well = {0};
static const struct wires_rule cut = {.cut = true};

static void heal(void)
{
    hosts_say(HOST_AGENT, HOST_SOURCE, &well);
    hosts_say(HOST_AGENT, HOST_SERVICE, &well);
}

struct trouble {
    const char *name;
    struct wires_rule rule;
    enum wires_deed deed;
    bool source, service; /* the wire to this host */
    bool deaf, mute;      /* only frames to the agent, or from it */
};

static void begin_trouble(const struct trouble *t)
{
    static const enum host peers[] = {HOST_SOURCE, HOST_SERVICE};
    const bool meant[] = {t->source, t->service};
    for (size_t i = 0; i < 2; i++) {
        if (meant[i] && !t->deaf) {
            wires_say(HOST_AGENT, (int)peers[i], &t->rule);
        }
        if (meant[i] && !t->mute) {
            wires_say((int)peers[i], HOST_AGENT, &t->rule);
        }
    }
}

static void suffer(struct net *n, const struct trouble *t)
{
    int64_t before = wires_count(t->deed);
    begin_trouble(t);
    change_for(n, trouble_ms());
    heal();
    int64_t took_ms = await_equal(n, t->name);
    crash_tell_hits(t->name, wires_count(t->deed) - before, "frames, equal after %lld ms",
                    (long long)took_ms);
}

START_TEST(it_is_equal_after_each_trouble_of_the_network)
{
    static const struct trouble troubles[] = {
        {"frames lost", {.lost = 150}, WIRES_LOST, true, true, false, false},
        {"frames delayed", {.delay_ms = 60}, WIRES_DELAYED, true, true, false, false},
        {"frames overtaken", {.held = 250}, WIRES_OVERTAKEN, true, true, false, false},
        {"frames doubled", {.doubled = 300}, WIRES_DOUBLED, true, true, false, false},
        {"cut from the source", {.cut = true}, WIRES_CUT, true, false, false, false},
        {"cut from the service", {.cut = true}, WIRES_CUT, false, true, false, false},
        {"cut from both", {.cut = true}, WIRES_CUT, true, true, false, false},
        {"heard by nobody", {.cut = true}, WIRES_CUT, true, true, false, true},
        {"hears nobody", {.cut = true}, WIRES_CUT, true, true, true, false},
    };
    struct net n;
    net_start(&n);
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
        suffer(&n, &troubles[i]);
    }
    end_well(&n.agent);
    net_stop(&n);
}
END_TEST

/* --- a peer that disappears silently --------------------------------------------------------- */

static void source_vanishes(struct net *n)
{
    cluster_kill(&cluster, SIGQUIT);
    hosts_enter(HOST_SOURCE);
    cluster_again(&cluster);
    hosts_enter(HOST_TESTER);
    PQfinish(n->w.conn);
    open_writer(n);
}

static void service_vanishes(struct net *n)
{
    crash_kill_program(&n->w.service.program);
    service_start(n);
}

/* Cuts the wire, lets the peer end unseen, and restores the wire with a new peer. The agent must
 * notice by itself, because the new peer does not know the connection. */
static void vanishes(struct net *n, enum host host, const char *away, void (*vanish)(struct net *))
{
    char name[64];
    int before = crash_said(&n->agent, away);
    int64_t cut_before = wires_count(WIRES_CUT);
    snprintf(name, sizeof(name), "half-open %s", host == HOST_SOURCE ? "source" : "service");
    int64_t began_ms = deadline_now_ms();
    hosts_say(HOST_AGENT, host, &cut);
    vanish(n);
    change_for(n, 200);
    crash_await_said(&n->agent, away, before + 1);
    int64_t noticed_ms = deadline_now_ms() - began_ms;
    heal();
    int64_t took_ms = await_equal(n, name);
    crash_tell_hits(name, wires_count(WIRES_CUT) - cut_before,
                    "frames, noticed after %lld ms, equal %lld ms later", (long long)noticed_ms,
                    (long long)took_ms);
    ck_assert_int_le(noticed_ms, is_patient() ? NOTICED_SELF_MS : NOTICED_MS);
}

START_TEST(a_peer_that_is_gone_without_a_word_is_noticed)
{
    struct net n;
    net_start(&n);
    vanishes(&n, HOST_SOURCE, "event=away pipeline=articles side=source", source_vanishes);
    vanishes(&n, HOST_SERVICE, "event=away pipeline=articles side=service", service_vanishes);
    end_well(&n.agent);
    net_stop(&n);
}
END_TEST

/* --- a host that disappears ------------------------------------------------------------------ */

/* When the holder comes back after a takeover, it finds that it has lost the pipeline. */
START_TEST(a_holder_whose_host_is_cut_off_is_followed)
{
    struct net n;
    struct program standby;
    struct program_result result;
    net_start(&n);
    char *other = configuration(&n, "other");
    run_on(HOST_STANDBY, &standby, other, "--wait");
    program_await(&standby, "event=standing_by", WAIT_MS);
    int64_t cut_before = wires_count(WIRES_CUT);
    int64_t began_ms = deadline_now_ms();
    hosts_say(HOST_AGENT, HOST_SOURCE, &cut);
    hosts_say(HOST_AGENT, HOST_SERVICE, &cut);
    change_for(&n, 200);
    program_await(&standby, "event=took_over", WAIT_MS);
    int64_t took_ms = deadline_now_ms() - began_ms;
    change_for(&n, 200);
    crash_await_equal(&n.w, &standby);
    heal();
    change_for(&n, 200);
    program_finish(&n.agent, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 5, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
    change_for(&n, 200);
    crash_await_equal(&n.w, &standby);
    crash_tell_hits("holder's host cut off", wires_count(WIRES_CUT) - cut_before,
                    "frames, taken over after %lld ms", (long long)took_ms);
    ck_assert_int_le(took_ms, TAKEOVER_MS);
    end_well(&standby);
    free(other);
    net_stop(&n);
}
END_TEST

/* --- tests ----------------------------------------------------------------------------------- */

static void start_server(void)
{
    hosts_connect(1);
    hosts_enter(HOST_SOURCE);
    cluster_start_on(&cluster, hosts_address(HOST_SOURCE));
    hosts_enter(HOST_TESTER);
    wires_stop();
    cluster_use(&cluster);
}

/* Runs also after a failed test. */
static void stop_server(void)
{
    cluster_stop(&cluster);
}

int main(void)
{
    const TTest *const tests[] = {
        it_is_equal_after_each_trouble_of_the_network,
        a_peer_that_is_gone_without_a_word_is_noticed,
        a_holder_whose_host_is_cut_off_is_followed,
    };
    const char *why = NULL;
    if (!hosts_make(&why)) {
        printf("skip: %s\n", why);
        return SKIPPED;
    }
    Suite *suite = suite_create("crash/network");
    TCase *tcase = tcase_create("network");
    tcase_set_timeout(tcase, 0);
    tcase_add_unchecked_fixture(tcase, start_server, stop_server);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        tcase_add_test(tcase, tests[i]);
    }
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
