/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of the page's charts, as JSON. */
#include "history.h"

#include <json-c/json.h>

#include "suite.h"

#define STEP HISTORY_STEP_US
#define NOW_US INT64_C(1700000000000000)

static struct status_snapshot *snapshots[2];

static void begin(struct history *h)
{
    snapshots[0] = status_snapshot_new("articles", "articles");
    snapshots[1] = status_snapshot_new("authors", "authors");
    history_init(h, 2, STEP);
}

static void end(struct history *h)
{
    history_release(h);
    status_snapshot_free(snapshots[0]);
    status_snapshot_free(snapshots[1]);
}

static void settle(struct status_snapshot *s, const char *stage, int64_t settled, int64_t equal_us)
{
    const struct status_snapshot_moment m = {
        .work = {.equal_us = equal_us},
        .counters = {.upserts = settled - 3, .deletes = 2, .rejected = 1}};
    status_snapshot_enter(s, stage, 1);
    status_snapshot_publish(s, &m);
}

/* Returns the values of one pipeline; the caller puts *answer. */
static struct json_object *shown(struct history *h, uint64_t since, size_t pipeline,
                                 const char *name, struct json_object **answer)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    history_push(h, since, &out);
    *answer = json_tokener_parse(buf_text(&out));
    ck_assert_msg(*answer != NULL, "%s", buf_text(&out));
    buf_release(&out);
    struct json_object *pipelines = json_object_object_get(*answer, "pipelines");
    ck_assert_uint_eq(json_object_array_length(pipelines), 2);
    return json_object_object_get(json_object_array_get_idx(pipelines, pipeline), name);
}

static void expect(struct history *h, uint64_t since, size_t pipeline, const char *name,
                   const char *values)
{
    struct json_object *answer;
    struct json_object *list = shown(h, since, pipeline, name, &answer);
    ck_assert_str_eq(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN), values);
    json_object_put(answer);
}

START_TEST(a_sample_has_the_rate_since_the_last_one_and_the_lag)
{
    struct history h;
    begin(&h);
    settle(snapshots[0], "following", 50, NOW_US - 1500000);
    settle(snapshots[1], "copying", 9000, NOW_US - 1500000);
    history_take(&h, snapshots, 2 * STEP, NOW_US);
    settle(snapshots[0], "following", 250, NOW_US);
    settle(snapshots[1], "copying", 9000, 0);
    history_take(&h, snapshots, 4 * STEP, NOW_US);
    expect(&h, 0, 0, "rate", "[5,10]");
    expect(&h, 0, 0, "lag", "[1.5,0]");
    expect(&h, 0, 1, "rate", "[900,0]");
    expect(&h, 0, 1, "lag", "[null,null]");
    end(&h);
}
END_TEST

START_TEST(a_sample_is_taken_once_a_step)
{
    struct history h;
    begin(&h);
    ck_assert_int_eq(history_take(&h, snapshots, STEP, NOW_US), STEP / 1000);
    ck_assert_int_eq(history_take(&h, snapshots, 2 * STEP - 1, NOW_US), 1);
    expect(&h, 0, 0, "rate", "[]");
    ck_assert_int_eq(history_take(&h, snapshots, 2 * STEP, NOW_US), STEP / 1000);
    ck_assert_int_eq(history_take(&h, snapshots, 2 * STEP + 1000, NOW_US), STEP / 1000 - 1);
    expect(&h, 0, 0, "rate", "[0]");
    end(&h);
}
END_TEST

START_TEST(the_newest_are_kept_and_only_new_ones_are_sent)
{
    struct history h;
    struct json_object *answer;
    begin(&h);
    for (int64_t i = 1; i <= HISTORY_SAMPLES + 7; i++) {
        settle(snapshots[1], "following", 10 * i * (i + 1) / 2, 0);
        history_take(&h, snapshots, (1 + i) * STEP, NOW_US);
    }
    struct json_object *rates = shown(&h, 0, 1, "rate", &answer);
    ck_assert_uint_eq(json_object_array_length(rates), HISTORY_SAMPLES);
    ck_assert_int_eq(json_object_get_int(json_object_array_get_idx(rates, 0)), 8);
    ck_assert_int_eq(json_object_get_int(json_object_object_get(answer, "taken")),
                     HISTORY_SAMPLES + 7);
    json_object_put(answer);
    expect(&h, HISTORY_SAMPLES + 5, 1, "rate", "[96,97]");
    expect(&h, HISTORY_SAMPLES + 7, 1, "rate", "[]");
    expect(&h, UINT64_MAX, 1, "rate", "[]");
    end(&h);
}
END_TEST

SUITE_MAIN("serve/history", a_sample_has_the_rate_since_the_last_one_and_the_lag,
           a_sample_is_taken_once_a_step, the_newest_are_kept_and_only_new_ones_are_sent)
