/* SPDX-License-Identifier: Apache-2.0 */
/* Several base URLs of one cluster: any reachable one is used, and none is dropped permanently. */
#include "proxy.h"
#include "runs.h"

struct nodes {
    struct world w;
    struct proxy *first;
    struct proxy *second;
    bool silent; /* the first accepts bulk requests but does not answer */
};

static void fall_silent(void *context, const struct proxy_request *request,
                        struct proxy_fault *fault)
{
    const struct nodes *n = context;
    if (request->bulk && __atomic_load_n(&n->silent, __ATOMIC_ACQUIRE)) {
        fault->withheld = true;
        fault->delay_ms = 6000;
    }
}

/* Replaces the service URL in the configuration by both proxies. */
static void name_both(struct nodes *n)
{
    char text[4096];
    char both[256];
    struct world *w = &n->w;
    world_configure(w, WORLD_PROPERTIES, "\"request_timeout\": \"2s\"");
    FILE *file = fopen(w->config, "r");
    ck_assert_ptr_nonnull(file);
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    fclose(file);
    char *at = strstr(text, w->service.url);
    ck_assert_ptr_nonnull(at);
    snprintf(both, sizeof(both), "[\"http://127.0.0.1:%d\", \"http://127.0.0.1:%d\"]",
             proxy_port(n->first), proxy_port(n->second));
    char *end = at + strlen(w->service.url) + 1;
    char *whole = NULL;
    ck_assert_int_gt(asprintf(&whole, "%.*s%s%s", (int)(at - 1 - text), text, both, end), 0);
    free(scratch_write(w->dir, "rowferry.json", whole));
    free(whole);
}

static void enter(struct nodes *n)
{
    *n = (struct nodes){0};
    world_start(&n->w, 200, NULL);
    world_install(&n->w);
    n->first = proxy_start(n->w.service.port, fall_silent, n);
    n->second = proxy_start(n->w.service.port, NULL, NULL);
    name_both(n);
}

static void leave(struct nodes *n)
{
    proxy_stop(n->first);
    proxy_stop(n->second);
    world_stop(&n->w);
}

START_TEST(a_node_that_is_gone_is_passed_by_and_found_again)
{
    struct nodes n;
    struct program p;
    enter(&n);
    start_run(&n.w, &p);
    for (int turn = 0; turn < 3; turn++) {
        char title[32];
        struct proxy *down = turn % 2 == 0 ? n.first : n.second;
        struct proxy *up = turn % 2 == 0 ? n.second : n.first;
        size_t before = proxy_bulks(up);
        snprintf(title, sizeof(title), "turn %d", turn);
        proxy_down(down);
        set_title(&n.w, 5, title);
        await_title(&n.w, 5, title);
        ck_assert_uint_gt(proxy_bulks(up), before);
        proxy_up(down);
    }
    end_run(&p);
    world_expect_equal(&n.w);
    leave(&n);
}
END_TEST

START_TEST(a_node_that_takes_requests_and_answers_none_is_passed_by)
{
    struct nodes n;
    struct program p;
    enter(&n);
    start_run(&n.w, &p);
    __atomic_store_n(&n.silent, true, __ATOMIC_RELEASE);
    set_title(&n.w, 5, "passed by");
    await_title(&n.w, 5, "passed by");
    ck_assert_uint_gt(proxy_bulks(n.second), 0);
    __atomic_store_n(&n.silent, false, __ATOMIC_RELEASE);
    end_run(&p);
    world_expect_equal(&n.w);
    leave(&n);
}
END_TEST

START_TEST(with_one_node_gone_each_command_still_works)
{
    struct nodes n;
    enter(&n);
    proxy_down(n.first);
    rowferry_expect(0, n.w.config, "sync", NULL);
    rowferry_expect(0, n.w.config, "verify", NULL);
    rowferry_expect(0, n.w.config, "reindex", NULL);
    world_expect_equal(&n.w);
    leave(&n);
}
END_TEST

SUITE_MAIN("run/nodes", a_node_that_is_gone_is_passed_by_and_found_again,
           a_node_that_takes_requests_and_answers_none_is_passed_by,
           with_one_node_gone_each_command_still_works)
