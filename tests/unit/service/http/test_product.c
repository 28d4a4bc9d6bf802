/* SPDX-License-Identifier: Apache-2.0 */
/* Detecting the product by the body, by a header, or by the text of a refusal. */
#include "rowferry/service/http/product.h"

#include "fixture.h"
#include "suite.h"

struct line {
    int status;
    const char *header;
    const char *body;
    enum product product;
    int major, minor;
    bool permitted;
    bool stand_in;
};

#define ES_TAGLINE "\"tagline\":\"You Know, for Search\""
#define OS_TAGLINE "\"tagline\":\"The OpenSearch Project: https://opensearch.org/\""

static const struct line lines[] = {
    {200, "",
     "{\"version\":{\"distribution\":\"opensearch\",\"number\":\"2.19.4\"}," OS_TAGLINE "}",
     PRODUCT_OPENSEARCH, 2, 19, true, false},
    {200, "X-OpenSearch-Version: OpenSearch/3.4.0 (opensearch)\r\n",
     "{\"version\":{\"distribution\":\"opensearch\",\"number\":\"3.4.0\"}}", PRODUCT_OPENSEARCH, 3,
     4, true, false},
    {200, "", "{\"version\":{\"number\":\"7.10.2\"}," OS_TAGLINE "}", PRODUCT_OPENSEARCH, 7, 10,
     true, false},
    {200, "x-elastic-product: Elasticsearch\r\n",
     "{\"version\":{\"number\":\"8.19.21\",\"build_flavor\":\"default\"}," ES_TAGLINE "}",
     PRODUCT_ELASTICSEARCH, 8, 19, true, false},
    {200, "", "{\"version\":{\"number\":\"7.10.2\"}," ES_TAGLINE "}", PRODUCT_ELASTICSEARCH, 7, 10,
     true, false},
    {200, "X-Elastic-Product: Elasticsearch\r\n",
     "{\"version\":{\"number\":\"8.11.0\",\"build_flavor\":\"serverless\"}," ES_TAGLINE "}",
     PRODUCT_ELASTICSEARCH, 0, 0, true, false},
    {200, "",
     "{\"version\":{\"distribution\":\"opensearch\",\"number\":\"2.19.4\",\"build_type\":"
     "\"devsearch\"}}",
     PRODUCT_OPENSEARCH, 2, 19, true, true},
    {200, "", "{\"version\":{\"number\":\"x\"},\"tagline\":\"something else\"}", PRODUCT_UNKNOWN, 0,
     0, true, false},
    {403, "",
     "{\"error\":{\"reason\":\"action [cluster:monitor/main] is unauthorized for API key id [x] of "
     "user [y], this action is granted by the cluster privileges [monitor,manage,all]\"}}",
     PRODUCT_ELASTICSEARCH, 0, 0, false, false},
    {403, "",
     "{\"error\":{\"reason\":\"no permissions for [cluster:monitor/main] and User [name=w]\"}}",
     PRODUCT_OPENSEARCH, 0, 0, false, false},
    {403, "", "{\"error\":\"go away\"}", PRODUCT_UNKNOWN, 0, 0, false, false},
};

static void say(char *out, int status, const char *header, const char *body)
{
    int n = snprintf(out, ANSWER_BYTES,
                     "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n%sContent-Length: "
                     "%zu\r\n\r\n%s",
                     status, header, strlen(body), body);
    ck_assert_int_lt(n, ANSWER_BYTES);
}

START_TEST(every_way_to_detect_the_product)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const struct line *line = &lines[i];
        char text[ANSWER_BYTES];
        const char *const answers[] = {text, NULL};
        struct fixture f = {0};
        struct product_info info;
        say(text, line->status, line->header, line->body);
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(product_detect(f.service, &info, &f.err), 0);
        ck_assert_msg(info.product == line->product, "%s", line->body);
        ck_assert_msg(info.major == line->major && info.minor == line->minor, "%s", line->body);
        ck_assert(info.permitted == line->permitted);
        ck_assert(info.stand_in == line->stand_in);
        stop(&f);
    }
}
END_TEST

START_TEST(a_version_has_no_control_characters)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {
        answer_of(text, 200, "{\"version\":{\"number\":\"2.1-rc1\\u001b[31m\\n\"}," OS_TAGLINE "}"),
        NULL};
    struct fixture f = {0};
    struct product_info info;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(product_detect(f.service, &info, &f.err), 0);
    ck_assert_str_eq(info.version, "2.1-rc1");
    ck_assert_int_eq(info.minor, 1);
    stop(&f);
}
END_TEST

START_TEST(an_unknown_credential_is_refused_with_a_hint)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 401, "{}"), NULL};
    struct fixture f = {0};
    struct product_info info;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(product_detect(f.service, &info, &f.err), ERR_REJECTED);
    ck_assert_int_eq(f.err.http_status, 401);
    ck_assert_ptr_nonnull(strstr(f.err.hint, "service.auth"));
    stop(&f);
}
END_TEST

START_TEST(a_key_that_is_not_encoded_is_told)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 401, "{}"), NULL};
    struct fixture f = {.options.credentials[SERVICE_API_KEY].value = "id:key-5f0c"};
    struct product_info info;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(product_detect(f.service, &info, &f.err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(f.err.hint, "\"encoded\""));
    ck_assert_ptr_null(strstr(f.err.hint, "5f0c"));
    stop(&f);
}
END_TEST

START_TEST(a_console_is_named_and_not_taken_for_the_service)
{
    static const struct {
        int status;
        const char *header;
    } consoles[] = {{302, "location: /app/home\r\nosd-name: dash\r\n"},
                    {302, "location: /spaces/enter\r\nkbn-name: kibana\r\n"},
                    {401, "kbn-name: kibana\r\n"},
                    {200, "kbn-name: kibana\r\n"}};
    for (size_t i = 0; i < sizeof(consoles) / sizeof(consoles[0]); i++) {
        char text[ANSWER_BYTES];
        const char *const answers[] = {text, NULL};
        struct fixture f = {0};
        struct product_info info;
        say(text, consoles[i].status, consoles[i].header, "{}");
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(product_detect(f.service, &info, &f.err), ERR_REJECTED);
        ck_assert_ptr_nonnull(strstr(f.err.message, "Dashboards answers"));
        ck_assert_ptr_nonnull(strstr(f.err.hint, "service.url"));
        stop(&f);
    }
}
END_TEST

START_TEST(an_error_page_of_a_proxy_is_not_a_product)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, 200, "<html>log in</html>"), NULL};
    struct fixture f = {0};
    struct product_info info;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(product_detect(f.service, &info, &f.err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(f.err.message, "expected a JSON object"));
    stop(&f);
}
END_TEST

START_TEST(only_recent_elasticsearch_is_asked_to_leave_out_sources)
{
    static const struct {
        enum product product;
        int major, minor;
        bool asked;
    } versions[] = {
        {PRODUCT_ELASTICSEARCH, 8, 17, false}, {PRODUCT_ELASTICSEARCH, 8, 18, true},
        {PRODUCT_ELASTICSEARCH, 9, 0, true},   {PRODUCT_ELASTICSEARCH, 0, 0, false},
        {PRODUCT_OPENSEARCH, 3, 4, false},     {PRODUCT_OPENSEARCH, 9, 0, false},
        {PRODUCT_UNKNOWN, 9, 0, false},
    };
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        struct product_info info = {
            .product = versions[i].product,
            .major = versions[i].major,
            .minor = versions[i].minor,
        };
        ck_assert(versions[i].asked == (product_bulk_query(&info)[0] != '\0'));
    }
}
END_TEST

START_TEST(what_was_tried_with_a_release_is_known)
{
    static const struct {
        enum product product;
        int major;
        const char *version;
        enum product_tested tested;
        const char *words; /* beginning */
    } cases[] = {
        {PRODUCT_OPENSEARCH, 2, "2.19.4", PRODUCT_TESTED, "plain, with k-NN, with security"},
        {PRODUCT_ELASTICSEARCH, 9, "9.5.3", PRODUCT_TESTED,
         "plain; not tested with it: passwords, "},
        {PRODUCT_OPENSEARCH, 2, "2.19.40", PRODUCT_TESTED_NEAR, "OpenSearch 2.19.4"},
        {PRODUCT_ELASTICSEARCH, 8, "2.19.4", PRODUCT_TESTED_NEAR, "Elasticsearch 8.19.21"},
        {PRODUCT_ELASTICSEARCH, 7, "7.17.0", PRODUCT_UNTESTED,
         "Elasticsearch 8.19.21, Elasticsearch 9.5.3, OpenSearch 2.19.4, OpenSearch 3.4.0"},
        {PRODUCT_UNKNOWN, 2, "2.19.4", PRODUCT_UNTESTED, "Elasticsearch 8.19.21"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct product_info info = {.product = cases[i].product, .major = cases[i].major};
        struct buf out;
        snprintf(info.version, sizeof(info.version), "%s", cases[i].version);
        buf_init(&out, 1024);
        ck_assert_int_eq(product_tested(&info, &out), cases[i].tested);
        ck_assert_msg(strncmp(buf_text(&out), cases[i].words, strlen(cases[i].words)) == 0, "%s",
                      buf_text(&out));
        buf_release(&out);
    }
}
END_TEST

SUITE_MAIN("service/product", what_was_tried_with_a_release_is_known,
           every_way_to_detect_the_product, a_version_has_no_control_characters,
           an_unknown_credential_is_refused_with_a_hint, a_key_that_is_not_encoded_is_told,
           a_console_is_named_and_not_taken_for_the_service,
           an_error_page_of_a_proxy_is_not_a_product,
           only_recent_elasticsearch_is_asked_to_leave_out_sources)
