/* SPDX-License-Identifier: Apache-2.0 */
/* The last events of each pipeline, as JSON. */
#include "events.h"

#include <json-c/json.h>
#include <string.h>

#include "suite.h"

static const char *const names[] = {"a", "b"};

static void note(struct events *e, const char *pipeline, const char *event, int64_t n)
{
    const struct log_field fields[] = {F_TEXT("pipeline", pipeline), F_INT("n", n), {0}};
    events_add(e, LOG_INFO, 1, event, fields);
}

static struct json_object *shown(struct events *e, uint64_t since)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    events_push(e, since, &out);
    struct json_object *list = json_tokener_parse(buf_text(&out));
    ck_assert_msg(list != NULL, "%s", buf_text(&out));
    buf_release(&out);
    return list;
}

static int64_t number(struct json_object *list, size_t i, const char *member)
{
    struct json_object *event = json_object_array_get_idx(list, i);
    return json_object_get_int64(json_object_object_get(event, member));
}

START_TEST(noise_of_one_leaves_the_others_news)
{
    struct events e;
    events_init(&e, names, 2);
    note(&e, "b", "following", 7);
    for (int64_t i = 0; i < 3 * EVENTS_KEPT + 3; i++) {
        note(&e, "a", "away", i);
    }
    note(&e, NULL, "stopping", 8);
    struct json_object *list = shown(&e, 0);
    ck_assert_uint_eq(json_object_array_length(list), EVENTS_KEPT + 2);
    ck_assert_int_eq(number(list, 0, "n"), 2 * EVENTS_KEPT + 3);
    ck_assert_int_eq(number(list, EVENTS_KEPT - 1, "n"), 3 * EVENTS_KEPT + 2);
    ck_assert_int_eq(number(list, EVENTS_KEPT, "n"), 7);
    ck_assert_int_eq(number(list, EVENTS_KEPT + 1, "n"), 8);
    uint64_t last = (uint64_t)number(list, EVENTS_KEPT + 1, "id");
    json_object_put(list);
    list = shown(&e, last);
    ck_assert_uint_eq(json_object_array_length(list), 0);
    json_object_put(list);
    events_release(&e);
}
END_TEST

START_TEST(what_comes_by_interval_or_for_developers_is_left_out)
{
    struct events e;
    events_init(&e, names, 2);
    const struct log_field none[] = {{0}};
    events_add(&e, LOG_DEBUG, 1, "detail", none);
    note(&e, "a", "progress", 1);
    struct json_object *list = shown(&e, 0);
    ck_assert_uint_eq(json_object_array_length(list), 0);
    json_object_put(list);
    events_release(&e);
}
END_TEST

START_TEST(any_text_stays_json_and_one_that_is_too_long_is_cut)
{
    struct events e;
    char longest[EVENT_BYTES + 1];
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    events_init(&e, names, 2);
    const struct log_field hostile[] = {
        F_TEXT("pipeline", "a"), F_TEXT("message", "</script>\"\xff\n\x01"), {0}};
    const struct log_field large[] = {F_TEXT("pipeline", "b"), F_TEXT("message", longest), {0}};
    events_add(&e, LOG_WARN, 1, "away", hostile);
    events_add(&e, LOG_WARN, 1, "away", large);
    struct json_object *list = shown(&e, 0);
    ck_assert_uint_eq(json_object_array_length(list), 2);
    struct json_object *first = json_object_array_get_idx(list, 0);
    ck_assert_str_eq(json_object_get_string(json_object_object_get(first, "message")),
                     "</script>\"\xef\xbf\xbd\n\x01");
    ck_assert_int_eq(number(list, 1, "fields_cut"), 1);
    json_object_put(list);
    events_release(&e);
}
END_TEST

SUITE_MAIN("serve/events", noise_of_one_leaves_the_others_news,
           what_comes_by_interval_or_for_developers_is_left_out,
           any_text_stays_json_and_one_that_is_too_long_is_cut)
