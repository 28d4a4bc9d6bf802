/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are JSON, but not the answer to the request: no reader draws a conclusion from one.
 */
#include "http/body.h"

#include "fixture.h"
#include "index/index_private.h"
#include "rowferry/service/cluster/storage.h"
#include "rowferry/service/index/documents.h"
#include "rowferry/service/index/index.h"
#include "rowferry/service/index/scan.h"
#include "rowferry/service/index/stream.h"
#include "rowferry/service/trial/smoke.h"
#include "rowferry/service/trial/trial.h"
#include "suite.h"

#define SEARCH "{\"query\":{\"match_all\":{}}}"

static int resolve(struct service *s, struct err *err)
{
    enum alias_kind kind;
    struct index_info info;
    return index_resolve(s, "shop", &kind, &info, err);
}

static int create(struct service *s, struct err *err)
{
    return index_create(s, "shop-1", "{}", NULL, err);
}

static int swap(struct service *s, struct err *err)
{
    const struct index_action add = {"add", "shop-1", "shop", ""};
    return index_change_aliases(s, &add, 1, "shop", err);
}

static int mapping(struct service *s, struct err *err)
{
    struct buf json;
    buf_init(&json, 4096);
    int rc = index_mapping(s, "shop-1", &json, err);
    buf_release(&json);
    return rc;
}

static int refresh(struct service *s, struct err *err)
{
    return index_refresh(s, "shop-1", err);
}

static int count(struct service *s, struct err *err)
{
    int64_t n;
    return index_count(s, "shop-1", &n, err);
}

static int form(struct service *s, struct err *err)
{
    enum source_form found;
    return documents_form(s, "shop-1", &found, err);
}

static int get(struct service *s, struct err *err)
{
    struct documents d;
    const struct span key = span_make("1", 1);
    documents_init(&d);
    int rc = documents_get(s, "shop-1", &key, 1, true, 4096, &d, err);
    documents_release(&d);
    return rc;
}

static int scan(struct service *s, struct err *err)
{
    struct scan_page page;
    scan_page_init(&page);
    int rc = scan_next(s, "shop-1", span_make(NULL, 0), &page, err);
    scan_page_release(&page);
    return rc;
}

static int nameless(struct service *s, struct err *err)
{
    struct scan_page page;
    scan_page_init(&page);
    int rc = documents_nameless(s, "shop-1", &page, err);
    scan_page_release(&page);
    return rc;
}

static int search(struct service *s, struct err *err)
{
    struct hits hits = {0};
    scan_list_init(&hits.ids, 4096);
    int rc = trial_search(s, "shop-1", SEARCH, 10, NULL, &hits, err);
    scan_list_release(&hits.ids);
    return rc;
}

static int analyze(struct service *s, struct err *err)
{
    struct trial_terms terms;
    int rc = trial_analyze(s, "shop-1", "title", NULL, "a", &terms, err);
    trial_terms_release(&terms);
    return rc;
}

static int segments(struct service *s, struct err *err)
{
    int64_t bytes;
    return trial_bytes(s, "shop-1", &bytes, err);
}

static int sizes(struct service *s, struct err *err)
{
    struct storage storage;
    return storage_look(s, "shop-1", &storage, err);
}

static int lacks(struct service *s, struct err *err)
{
    char out[STREAM_TEMPLATE_BYTES];
    return stream_template_lacks(s, "shop", "{\"properties\":{\"a\":{}}}", out, err);
}

static const struct reader {
    int (*read)(struct service *s, struct err *err);
    const char *request;
} readers[] = {
    {resolve, "GET /shop"},
    {create, "PUT /shop-1"},
    {swap, "POST /_aliases"},
    {mapping, "GET /shop-1/_mapping"},
    {refresh, "POST /shop-1/_refresh"},
    {count, "GET /shop-1/_count"},
    {form, "GET /shop-1"},
    {get, "POST /shop-1/_mget"},
    {scan, "POST /shop-1/_search"},
    {nameless, "POST /shop-1/_search"},
    {search, "POST /shop-1/_search"},
    {analyze, "POST /shop-1/_analyze"},
    {segments, "GET /shop-1/_segments"},
    {sizes, "GET /shop-1/_stats/store"},
    {lacks, "POST /_index_template/_simulate_index/shop"},
};

static const char *const foreign[] = {
    "{}",
    "[]",
    "null",
    "{\"status\":\"up\"}",
    "{\"shop-1\":1,\"docs\":[{}],\"hits\":[]}",
    "<html><title>Log in</title></html>",
};

START_TEST(an_answer_of_another_form_is_unreadable_and_names_the_request)
{
    const struct reader *r = &readers[_i];
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        char text[ANSWER_BYTES];
        char place[128];
        const char *const answers[] = {answer_of(text, 200, foreign[i]), NULL};
        struct fixture f = {0};
        start(&f, answers, SIZE_MAX);
        int rc = r->read(f.service, &f.err);
        ck_assert_msg(rc == ERR_TRANSIENT, "%s: %s: %d", r->request, foreign[i], rc);
        snprintf(place, sizeof(place),
                 "%s of 127.0.0.1:%d: could not read the answer: ", r->request, f.server->port);
        ck_assert_msg(strncmp(f.err.message, place, strlen(place)) == 0, "%s", f.err.message);
        ck_assert_int_eq(f.err.http_status, 200);
        ck_assert_msg(foreign[i][0] != '<' || f.err.detail[0] == '\0', "%s", f.err.detail);
        stop(&f);
    }
}
END_TEST

START_TEST(the_missing_member_or_the_title_of_a_page_is_named)
{
    static const struct {
        const char *body;
        const char *why;
    } lines[] = {
        {"{\"a\":{}}", "it has no object \"mappings\" of an index"},
        {"[]", "expected a JSON object"},
        {"<title>Log in</title>", "expected a JSON object, not the page \"Log in\""},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[ANSWER_BYTES];
        const char *const answers[] = {answer_of(text, 200, lines[i].body), NULL};
        struct fixture f = {0};
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(mapping(f.service, &f.err), ERR_TRANSIENT);
        ck_assert_msg(strstr(f.err.message, lines[i].why) != NULL, "%s", f.err.message);
        stop(&f);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("service/body");
    TCase *tcase = tcase_create("body");
    tcase_set_timeout(tcase, SUITE_TEST_S);
    tcase_add_loop_test(tcase, an_answer_of_another_form_is_unreadable_and_names_the_request, 0,
                        sizeof(readers) / sizeof(readers[0]));
    tcase_add_test(tcase, the_missing_member_or_the_title_of_a_page_is_named);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
