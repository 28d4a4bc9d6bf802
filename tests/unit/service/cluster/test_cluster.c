/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a cluster about itself, and their meaning for a name. */
#include "rowferry/service/cluster/cluster.h"

#include "fixture.h"
#include "suite.h"

START_TEST(the_first_pattern_that_fits_decides_what_a_write_creates)
{
    static const struct {
        const char *value, *name;
        bool creates;
    } cases[] = {
        {"true", "shop", true},
        {"false", "shop", false},
        {"shop*", "shop-articles", true},
        {"shop*", "other", false},
        {"-shop,+*", "shop", false},
        {"-shop,+*", "shop-articles", true},
        {"+*,-shop", "shop", true},
        {"+logs-*-prod,-*", "logs-a-b-prod", true},
        {"+logs-*-prod,-*", "logs-a-b-test", false},
        {"a*b*c", "axxbyyc", true},
        {"a*b*c", "axxbyy", false},
        {"*", "", true},
        {"", "shop", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(cluster_creates(cases[i].value, cases[i].name) == cases[i].creates,
                      "\"%s\" of \"%s\"", cases[i].value, cases[i].name);
    }
}
END_TEST

START_TEST(configured_cluster_settings_override_the_default)
{
    static const struct {
        const char *body, *value;
    } cases[] = {
        {"{\"defaults\":{\"action\":{\"auto_create_index\":\"true\"}}}", "true"},
        {"{\"persistent\":{\"action\":{\"auto_create_index\":\"-a\"}},\"defaults\":{\"action\":{"
         "\"auto_create_index\":\"true\"}}}",
         "-a"},
        {"{\"transient\":{\"action\":{\"auto_create_index\":\"false\"}},\"persistent\":{\"action\":"
         "{\"auto_create_index\":\"-a\"}}}",
         "false"},
        {"{}", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[ANSWER_BYTES];
        const char *const answers[] = {answer_of(text, 200, cases[i].body), NULL};
        struct fixture f = {0};
        struct buf value;
        buf_init(&value, 1024);
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(cluster_auto_create(f.service, &value, &f.err), 0);
        ck_assert_str_eq(buf_text(&value), cases[i].value);
        buf_release(&value);
        stop(&f);
    }
}
END_TEST

#define TEMPLATE(name, pattern, priority, stream)                                                  \
    "{\"name\":\"" name "\",\"index_template\":{\"index_patterns\":[\"" pattern                    \
    "\"],\"priority\":" priority stream "}}"
#define STREAM ",\"data_stream\":{}"

START_TEST(the_template_with_the_highest_priority_counts)
{
    static const struct {
        const char *body, *name;
        int64_t priority;
        bool stream;
    } cases[] = {
        {TEMPLATE("a", "shop-*", "1", STREAM), "a", 1, true},
        {TEMPLATE("a", "logs-*", "1", STREAM), "", 0, false},
        {TEMPLATE("a", "shop-*", "1", ""), "a", 1, false},
        {TEMPLATE("a", "shop-*", "1", STREAM) "," TEMPLATE("b", "*", "5", ""), "b", 5, false},
        {TEMPLATE("a", "shop-*", "5", "") "," TEMPLATE("b", "*", "9", STREAM), "b", 9, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[ANSWER_BYTES / 2];
        char text[ANSWER_BYTES];
        struct cluster_template template;
        struct fixture f = {0};
        snprintf(body, sizeof(body), "{\"index_templates\":[%s]}", cases[i].body);
        const char *const answers[] = {answer_of(text, 200, body), NULL};
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(cluster_template(f.service, "shop-articles-1", &template, &f.err), 0);
        ck_assert(template.known);
        ck_assert_str_eq(template.name, cases[i].name);
        ck_assert_int_eq(template.priority, cases[i].priority);
        ck_assert(template.stream == cases[i].stream);
        stop(&f);
    }
}
END_TEST

START_TEST(a_refused_question_is_unknown)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 403, "{}"), NULL};
    int64_t wall_s;
    struct buf out;
    struct cluster_template template;
    struct cluster_room room;
    struct fixture f = {0};
    buf_init(&out, 1024);
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(cluster_template(f.service, "a", &template, &f.err), 0);
    ck_assert(!template.known);
    ck_assert_int_eq(cluster_auto_create(f.service, &out, &f.err), 0);
    ck_assert_int_eq(cluster_clock(f.service, &wall_s, &f.err), 0);
    ck_assert_int_eq(cluster_room(f.service, &room, &f.err), 0);
    ck_assert_uint_eq(out.len, 0);
    ck_assert_int_eq(wall_s, 0);
    ck_assert_int_eq(room.data_nodes, 0);
    ck_assert_int_lt(room.bytes, 0);
    buf_release(&out);
    stop(&f);
}
END_TEST

/* A proxy sends a Date; the products return an epoch if the account may request it. */
START_TEST(the_clock_is_the_date_header_or_else_the_epoch)
{
    char text[ANSWER_BYTES];
    const char *const dated[] = {"HTTP/1.1 403 X\r\nDate: Sun, 22 Nov 2026 12:00:00 GMT\r\n"
                                 "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
                                 NULL};
    const char *const told[] = {answer_of(text, 200, "[{\"epoch\":\"1795348800\"}]"), NULL};
    for (int i = 0; i < 2; i++) {
        int64_t wall_s;
        struct fixture f = {0};
        start(&f, i == 0 ? dated : told, SIZE_MAX);
        ck_assert_int_eq(cluster_clock(f.service, &wall_s, &f.err), 0);
        ck_assert_int_eq(wall_s, 1795348800);
        stop(&f);
    }
}
END_TEST

SUITE_MAIN("service/cluster", the_first_pattern_that_fits_decides_what_a_write_creates,
           configured_cluster_settings_override_the_default,
           the_template_with_the_highest_priority_counts, a_refused_question_is_unknown,
           the_clock_is_the_date_header_or_else_the_epoch)
