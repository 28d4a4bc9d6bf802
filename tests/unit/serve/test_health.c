/* SPDX-License-Identifier: Apache-2.0 */
/* Readiness by stage, stall and servers. */
#include "rowferry/serve/health.h"

#include "suite.h"
#include "views.h"

static void expect(const struct status_snapshot_view *v, bool ready, const char *words)
{
    struct buf out;
    buf_init(&out, 4096);
    health_push_words(&out, v);
    ck_assert_str_eq(buf_text(&out), words);
    ck_assert_int_eq(health_ready(v), ready);
    buf_release(&out);
}

START_TEST(following_standing_by_and_paused_are_ready)
{
    static const struct {
        const char *stage;
        bool ready;
    } rows[] = {{"following", true}, {"standing by", true}, {"paused", true},
                {"copying", false},  {"guard", false},      {"waiting", false},
                {"starting", false}, {"ended", false},      {"standing still", false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct status_snapshot_view v = view_of("articles", rows[i].stage);
        expect(&v, rows[i].ready, rows[i].stage);
    }
}
END_TEST

START_TEST(a_stall_and_servers_that_are_away_are_named)
{
    struct status_snapshot_view v = view_of("articles", "following");
    v.moment.service_away = true;
    expect(&v, false, "following, the service is unreachable");
    v.moment.service_status = 429;
    expect(&v, false, "following, the service answers, but accepts nothing");
    v.moment.service_status = 200;
    expect(&v, false, "following, an answer of the service cannot be read");
    v.moment.source_away = true;
    v.moment.service_away = false;
    expect(&v, false, "following, the source is unreachable");
    v.moment.source_away = false;
    view_stall(&v, "held", "backend 7\n");
    expect(&v, false, "following, stalled (held): backend 7\\n");
}
END_TEST

START_TEST(one_that_has_stopped_says_why)
{
    struct status_snapshot_view v = view_of("articles", "ended");
    v.over = true;
    v.exit_code = 1;
    snprintf(v.message, sizeof(v.message), "the table is gone");
    expect(&v, false, "stopped with exit code 1: the table is gone");
}
END_TEST

SUITE_MAIN("serve/health", following_standing_by_and_paused_are_ready,
           a_stall_and_servers_that_are_away_are_named, one_that_has_stopped_says_why)
