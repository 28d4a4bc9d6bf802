/* SPDX-License-Identifier: Apache-2.0 */
/* What a session is made of, and by which definition it works during a rebuild. */
#include "rowferry/daemon/session.h"

#include "generation.h"
#include "rowferry/state/generation_config.h"

/* A definition that was used before the one of the configuration. */
#define BEFORE                                                                                     \
    "\"fields\": {\"title\": \"headline\"}, \"limits\": {\"in_flight\": 9},"                       \
    " \"delete_guard\": {\"count\": 8},"

static void session_begin(struct session *s, const struct workplace *w)
{
    struct err err;
    OK(session_init(s, w->config, &w->config->pipelines[0], "run", &err));
    OK(session_open_state(s, &err));
}

static void write_built(struct state *state, const char *generation, const struct workplace *w)
{
    struct err err;
    struct buf text;
    buf_init(&text, 65536);
    config_write_built(&w->config->pipelines[0], &text);
    OK(generation_config_write(state, generation, buf_text(&text), &err));
    buf_release(&text);
}

/* Records a live generation that was built by another definition. */
static void build_before(struct state *state)
{
    struct workplace before = workplace_make("", BEFORE);
    generation_make_live(state, "shop-articles-000001");
    write_built(state, "shop-articles-000001", &before);
    workplace_remove(&before);
}

/* Replaces the live generation by one that was built from the configuration of the workplace. */
static void replace_live(struct state *live, enum rebuild_kind kind, const struct workplace *w,
                         int number)
{
    char name[64];
    struct err err;
    struct state *next = NULL;
    snprintf(name, sizeof(name), "shop-articles-%06d", number);
    OK(rebuild_begin(live, &(struct rebuild){.kind = kind}, NULL, &err));
    OK(rebuild_open(live, &next, &err));
    generation_begin(next, name, number);
    write_built(next, name, w);
    OK(rebuild_promote(live, NULL, 1, &err));
    state_close(next);
}

START_TEST(the_options_are_those_of_the_pipeline)
{
    struct workplace w = workplace_make("\"delete_guard\": {\"share\": 0.25, \"count\": 5},",
                                        "\"limits\": {\"in_flight\": 3, \"linger\": \"9ms\"},");
    struct session s;
    struct pipeline_options options;
    struct source_options source;
    struct listing_options listing;
    session_begin(&s, &w);
    session_options(&s, &options);
    ck_assert_str_eq(options.definition.name, "articles");
    ck_assert_str_eq(options.definition.alias, "shop-articles");
    ck_assert_uint_eq(options.limits.in_flight, 3);
    ck_assert_int_eq(options.follow.linger_ms, 9);
    ck_assert_double_eq(options.guard.share, 0.25);
    ck_assert_int_eq(options.guard.count, 5);
    ck_assert(options.mode == PIPELINE_SYNC && !options.definition.stream);
    s.fences = true;
    session_source_options(&s, &source);
    ck_assert(source.fences);
    ck_assert_str_eq(s.application_name, "rowferry run articles");
    session_listing(&s, "id > 5", &listing);
    ck_assert_str_eq(listing.table, "articles");
    ck_assert_str_eq(listing.only, "id > 5");
    ck_assert_str_eq(listing.key[0], "id");
    session_release(&s);
    workplace_remove(&w);
}
END_TEST

START_TEST(a_second_holder_is_refused)
{
    struct workplace w = workplace_make("", "");
    struct session first;
    struct session second;
    struct err err;
    session_begin(&first, &w);
    session_begin(&second, &w);
    OK(session_hold(&first, &err));
    ck_assert_int_eq(session_hold(&second, &err), ERR_HELD);
    session_release(&first);
    OK(session_hold(&second, &err));
    session_release(&second);
    workplace_remove(&w);
}
END_TEST

START_TEST(without_a_rebuild_the_configuration_counts)
{
    struct workplace w = workplace_make("", "");
    struct session s;
    struct err err;
    session_begin(&s, &w);
    build_before(s.state);
    OK(session_open_service(&s, &err));
    ck_assert_uint_eq(s.pipeline->field_count, 0);
    session_release(&s);
    workplace_remove(&w);
}
END_TEST

START_TEST(during_a_rebuild_the_live_generation_keeps_its_definition)
{
    struct workplace w = workplace_make("", "\"limits\": {\"in_flight\": 3},");
    struct session s;
    struct err err;
    session_begin(&s, &w);
    build_before(s.state);
    generation_rebuild(s.state);
    OK(session_open_service(&s, &err));
    ck_assert_uint_eq(s.pipeline->field_count, 1);
    ck_assert_str_eq(s.pipeline->fields[0].column, "headline");
    ck_assert_int_eq(s.pipeline->limits.in_flight, 3); /* limits are not part of it */
    session_close_servers(&s);
    ck_assert_ptr_null(s.service);
    OK(rebuild_forget(s.state, NULL, &err)); /* the rebuild is aborted */
    OK(session_open_service(&s, &err));
    ck_assert_uint_eq(s.pipeline->field_count, 1);
    session_release(&s);
    workplace_remove(&w);
}
END_TEST

START_TEST(the_next_generation_is_built_by_the_configuration)
{
    struct workplace w = workplace_make("", "");
    struct session s;
    struct err err;
    session_begin(&s, &w);
    build_before(s.state);
    generation_rebuild(s.state);
    s.target = SESSION_NEXT;
    OK(session_open_service(&s, &err));
    ck_assert_uint_eq(s.pipeline->field_count, 0);
    session_release(&s);
    workplace_remove(&w);
}
END_TEST

START_TEST(the_former_generation_is_filled_by_its_definition)
{
    struct workplace w = workplace_make("", "");
    struct session s;
    struct err err;
    session_begin(&s, &w);
    s.target = SESSION_FORMER;
    OK(session_open_service(&s, &err)); /* none is known */
    ck_assert_uint_eq(s.pipeline->field_count, 0);
    session_close_servers(&s);
    build_before(s.state);
    replace_live(s.state, REBUILD_NEW, &w, 2);
    OK(session_open_service(&s, &err));
    ck_assert_uint_eq(s.pipeline->field_count, 1);
    session_release(&s);
    workplace_remove(&w);
}
END_TEST

START_TEST(after_a_return_the_live_generation_keeps_its_definition_until_it_is_rebuilt)
{
    struct workplace w = workplace_make("", "");
    struct workplace before = workplace_make("", BEFORE);
    struct workplace other = workplace_make("", "\"fields\": {\"title\": \"other\"},");
    struct session s;
    struct err err;
    bool returned;
    session_begin(&s, &w);
    generation_make_live(s.state, "shop-articles-000001");
    write_built(s.state, "shop-articles-000001", &w);
    replace_live(s.state, REBUILD_BACK, &before, 2);
    OK(session_open_service(&s, &err));
    ck_assert(s.returned);
    ck_assert_uint_eq(s.pipeline->field_count, 1);
    OK(session_look_returned(s.state, &before.config->pipelines[0], &returned, &err));
    ck_assert(!returned);
    OK(session_look_returned(s.state, &other.config->pipelines[0], &returned, &err));
    ck_assert(returned); /* of a definition that was never built, too */
    session_close_servers(&s);
    replace_live(s.state, REBUILD_NEW, &w, 3); /* reindex */
    OK(session_open_service(&s, &err));
    ck_assert(!s.returned);
    ck_assert_uint_eq(s.pipeline->field_count, 0);
    session_release(&s);
    workplace_remove(&other);
    workplace_remove(&before);
    workplace_remove(&w);
}
END_TEST

SUITE_MAIN("daemon/session", the_options_are_those_of_the_pipeline, a_second_holder_is_refused,
           without_a_rebuild_the_configuration_counts,
           during_a_rebuild_the_live_generation_keeps_its_definition,
           the_next_generation_is_built_by_the_configuration,
           the_former_generation_is_filled_by_its_definition,
           after_a_return_the_live_generation_keeps_its_definition_until_it_is_rebuilt)
