/* SPDX-License-Identifier: Apache-2.0 */
/* What sync, run and reindex refuse before they touch anything: an index of a definition that
 * validate has not passed, if that is required, and accounts that may change everything. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "generations.h"
#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define ROWS 60
#define REQUIRED "\"validate\": {\"required\": true}"
#define REQUIRED_FAILING                                                                           \
    "\"validate\": {\"required\": true, \"queries\": [{\"name\": \"wrong\", \"q\": \"title:1\", "  \
    "\"expect\": [\"60\"]}]}"
#define OTHER_MAPPING "\"title\":{\"type\":\"keyword\"}"
#define OTHER_SETTINGS "\"settings\": {\"number_of_replicas\": 0}"
#define NOT_PASSED "validate has not passed for its definition"

static bool has_index(const struct world *w)
{
    struct reply reply;
    reply_get(&reply, "GET", w->service.url, "/shop-articles", NULL, "ApiKey " WORLD_API_KEY);
    bool has = reply.status == 200;
    reply_release(&reply);
    return has;
}

static void expect_says(const char *name, const struct program_result *r, int exit_code,
                        const char *words)
{
    ck_assert_msg(r->exit_code == exit_code, "%s: ended with %d\n%s%s", name, r->exit_code, r->out,
                  r->err);
    ck_assert_msg(words == NULL || strstr(r->err, words) != NULL, "%s: no \"%s\" in\n%s", name,
                  words, r->err);
}

/* Runs a command that ends by itself, or `run` until it says the words. */
static void expect_end(const char *name, struct world *w, const char *command, const char *flag,
                       int exit_code, const char *words)
{
    struct program p;
    struct program_result r;
    rowferry_start(&p, w->config, command, flag, NULL);
    if (strcmp(command, "run") == 0) {
        program_await(&p, words != NULL ? words : "event=following", WAIT_MS);
        program_signal(&p, SIGTERM);
        program_finish(&p, WAIT_MS, &r);
        ck_assert_msg(r.exit_code == 0 || exit_code != 0, "%s: %s", name, r.err);
    } else {
        program_finish(&p, WAIT_MS, &r);
        expect_says(name, &r, exit_code, words);
    }
    program_result_release(&r);
}

/* --- validate.required ------------------------------------------------------------------------ */

struct gate {
    const char *name;
    const char *trial;   /* members of the pipeline during validate; null: no validate */
    int verdict;         /* its exit code */
    const char *mapping; /* changed after it; null: unchanged */
    const char *to;      /* further members of "to" after it */
    const char *members; /* of the pipeline for the command */
    const char *command;
    int exit_code;
    const char *words; /* on standard error; null: not looked at */
};

static void try_gate(const struct gate *g)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    if (g->trial != NULL) {
        world_pipeline(&w, g->trial);
        rowferry_expect(g->verdict, w.config, "validate", NULL);
    }
    w.members = g->members;
    w.to = g->to;
    world_configure(&w, g->mapping != NULL ? g->mapping : WORLD_PROPERTIES, "");
    expect_end(g->name, &w, g->command, NULL, g->exit_code, g->words);
    bool passes = g->exit_code == 0;
    ck_assert_msg(has_index(&w) == passes, "%s: an index %s", g->name,
                  passes ? "is missing" : "was made");
    world_stop(&w);
}

START_TEST(an_index_is_built_of_a_validated_definition_only_if_that_is_required)
{
    static const struct gate gates[] = {
        {"not required, a warning", NULL, 0, NULL, NULL, NULL, "sync", 0, "event=not_validated"},
        {"passed, no warning", "\"validate\": {}", 0, NULL, NULL, NULL, "sync", 0, NULL},
        {"never validated", NULL, 0, NULL, NULL, REQUIRED, "sync", 1, NOT_PASSED},
        {"passed", REQUIRED, 0, NULL, NULL, REQUIRED, "sync", 0, NULL},
        {"passed, run", REQUIRED, 0, NULL, NULL, REQUIRED, "run", 0, NULL},
        {"never validated, run", NULL, 0, NULL, NULL, REQUIRED, "run", 1, NOT_PASSED},
        {"never validated, reindex", NULL, 0, NULL, NULL, REQUIRED, "reindex", 1, NOT_PASSED},
        {"failed", REQUIRED_FAILING, 4, NULL, NULL, REQUIRED, "sync", 1, NOT_PASSED},
        {"another mapping", REQUIRED, 0, OTHER_MAPPING, NULL, REQUIRED, "sync", 1, NOT_PASSED},
        {"other settings", REQUIRED, 0, NULL, OTHER_SETTINGS, REQUIRED, "sync", 1, NOT_PASSED},
    };
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
        try_gate(&gates[i]);
    }
}
END_TEST

/* A change of the mapping asks again, and the live index stays as it is. */
START_TEST(a_rebuild_asks_again)
{
    struct world w;
    char *before;
    char *after;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    world_pipeline(&w, REQUIRED);
    rowferry_expect(0, w.config, "validate", NULL);
    rowferry_expect(0, w.config, "sync", NULL);
    before = generations_live(&w, "shop-articles");
    world_configure(&w, OTHER_MAPPING, "");
    expect_end("reindex", &w, "reindex", NULL, 1, NOT_PASSED);
    after = generations_live(&w, "shop-articles");
    ck_assert_str_eq(before, after);
    rowferry_expect(0, w.config, "validate", NULL);
    expect_end("reindex", &w, "reindex", NULL, 0, NULL);
    free(before);
    free(after);
    world_stop(&w);
}
END_TEST

/* --- administrators --------------------------------------------------------------------------- */

#define SAYS(path, answer) "{\"path\":\"" path "\",\"status\":200,\"answer\":" answer "}"
#define OPEN SAYS("=/", "{\"version\":{\"number\":\"2.19.4\",\"distribution\":\"opensearch\"}}")
#define ROLES(role)                                                                                \
    SAYS("_security/authinfo", "{\"user_name\":\"ferry\",\"roles\":[\"" role "\"],"                \
                               "\"backend_roles\":[]}")
#define SUPERUSER "is a superuser: it may change everything"
#define ADMINISTRATOR "is an administrator (role all_access): it may change everything"

struct account_case {
    const char *name;
    bool superuser;
    const char *role; /* of the service's account; null: devsearch, which has none */
    bool accepted;    /* in the file */
    const char *flag; /* on the command line */
    const char *command;
    int exit_code;
    const char *words;
};

static void try_account(struct world *w, const struct account_case *c, const char *reader)
{
    w->strict = !c->accepted;
    w->source = c->superuser ? NULL : reader;
    world_configure(w, WORLD_PROPERTIES, "");
    if (c->role != NULL) {
        world_fault(w, OPEN);
        world_fault(w, c->role);
    }
    expect_end(c->name, w, c->command, c->flag, c->exit_code, c->words);
    world_unfault(w);
}

START_TEST(an_account_that_may_change_everything_is_refused_unless_it_is_accepted)
{
    static const struct account_case cases[] = {
        {"superuser, sync", true, NULL, false, NULL, "sync", 1, SUPERUSER},
        {"superuser, reindex", true, NULL, false, NULL, "reindex", 1, SUPERUSER},
        {"superuser, run", true, NULL, false, NULL, "run", 1, SUPERUSER},
        {"superuser, verify", true, NULL, false, NULL, "verify", 1, SUPERUSER},
        {"superuser, validate", true, NULL, false, NULL, "validate", 1, SUPERUSER},
        {"superuser, document", true, NULL, false, "1", "document", 1, SUPERUSER},
        {"superuser, resync", true, NULL, false, "1", "resync", 1, SUPERUSER},
        {"administrator, sync", false, ROLES("all_access"), false, NULL, "sync", 1, ADMINISTRATOR},
        {"administrator, reindex", false, ROLES("all_access"), false, NULL, "reindex", 1,
         ADMINISTRATOR},
        {"administrator, run", false, ROLES("all_access"), false, NULL, "run", 1, ADMINISTRATOR},
        {"neither", false, ROLES("own"), false, NULL, "sync", 0, "accounts=true"},
        {"a stand-in has no accounts", false, NULL, false, NULL, "sync", 0, "accounts=false"},
        {"a service without security", false, OPEN, false, NULL, "sync", 0, "accounts=false"},
        {"superuser, by the file", true, NULL, true, NULL, "sync", 0, NULL},
        {"superuser, by the option", true, NULL, false, "--accept-admin", "sync", 0, NULL},
        {"administrator, by the option", false, ROLES("all_access"), false, "--accept-admin",
         "reindex", 0, NULL},
        {"both, by the option", true, ROLES("all_access"), false, "--accept-admin", "run", 0, NULL},
    };
    struct world w;
    char role[64];
    char reader[1024];
    world_start(&w, ROWS, NULL);
    world_install(&w);
    char *secret = scratch_write(w.dir, "reader", "reader");
    snprintf(role, sizeof(role), "gate_%d", (int)getpid());
    char *uri = uri_as(w.uri, role);
    snprintf(reader, sizeof(reader), "\"uri\": \"%s\", \"password\": {\"file\": \"%s\"}", uri,
             secret);
    sql_exec(w.conn, "create role %s login password 'reader'; grant select on articles to %s", role,
             role);
    rowferry_expect(0, w.config, "source", "install", "--reader", role, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        try_account(&w, &cases[i], reader);
        ck_assert_msg(i > 9 || !has_index(&w), "%s: an index was made", cases[i].name);
    }
    sql_exec(w.conn, "drop owned by %s; drop role %s", role, role);
    free(secret);
    free(uri);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/gates", an_index_is_built_of_a_validated_definition_only_if_that_is_required,
           a_rebuild_asks_again,
           an_account_that_may_change_everything_is_refused_unless_it_is_accepted)
