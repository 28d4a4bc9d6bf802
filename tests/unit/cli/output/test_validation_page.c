/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a trial: hostile texts stay texts, and names no credential. */
#include "output/validation_report.h"

#include <stdio.h>

#include "rowferry/config/config.h"
#include "suite.h"

#define PAGE_BYTES ((size_t)1 << 20)
#define NONCE "00000000000000ab"
/* markup, an attribute's end, an entity, a right-to-left override, control characters */
#define EVIL                                                                                       \
    "</td><script nonce='" NONCE "'>x</script>\" onload=\"x\" &lt; \xe2\x80\xae"                   \
    "y\033\x7f~CONTENT~"
#define EVIL_SHOWN                                                                                 \
    "&#60;/td&#62;&#60;script nonce=&#39;" NONCE "&#39;&#62;x&#60;/script&#62;&#34; "              \
    "onload=&#34;x&#34; &#38;lt; \\u202ey"

static char evil[] = EVIL;
static struct validate_note note = {VALIDATE_FAIL, evil, evil};
static struct validate_case one_case = {VALIDATE_PASS, evil, evil, evil};
static char *urls[] = {(char[]){"https://search.example:9200/secret-path?token=1"},
                       (char[]){"http://[::1]:9201"}};
static struct buf service;
static struct validate_report report;
static struct validation_subject subject;
static struct validation_report v;

static void begin(void)
{
    const struct service_config config = {.urls = urls, .url_count = 2};
    validate_report_init(&report);
    buf_init(&service, 4096);
    config_push_service_place(&config, &service);
    subject = (struct validation_subject){
        .table = evil, .source = evil, .alias = evil, .service = buf_text(&service)};
    v = (struct validation_report){.pipeline = evil,
                                   .subject = &subject,
                                   .report = &report,
                                   .code = EXIT_DIFFERENCES,
                                   .took_us = 1500000,
                                   .wall_us = 1795000000000000};
    snprintf(report.index, sizeof(report.index), "things-validate-1");
    struct validate_step *s = &report.steps[VALIDATE_QUERIES];
    s->status = VALIDATE_FAIL;
    s->text = evil;
    s->notes = &note;
    s->note_count = 1;
    s->cases = &one_case;
    s->case_count = 1;
    s->cases_left_out = 7;
}

static void push_page(struct buf *page)
{
    struct buf sections;
    buf_init(&sections, PAGE_BYTES);
    buf_init(page, PAGE_BYTES);
    validation_report_push_section(&sections, &v);
    validation_report_push_page(page, &sections, false, 0xab);
    ck_assert(!page->failed);
    buf_release(&sections);
}

static size_t count_of(const struct buf *page, const char *text)
{
    size_t count = 0;
    for (const char *at = buf_text(page); (at = strstr(at, text)) != NULL; at++) {
        count++;
    }
    return count;
}

START_TEST(hostile_texts_stay_texts)
{
    struct buf page;
    struct err err;
    err_set(&err, ERR_REJECTED, "%s", EVIL);
    v.err = &err;
    push_page(&page);
    ck_assert_uint_eq(count_of(&page, "<script"), 1);
    ck_assert_uint_eq(count_of(&page, "</script>"), 1);
    ck_assert_uint_eq(count_of(&page, "<script nonce=\"" NONCE "\">"), 1);
    ck_assert_uint_eq(count_of(&page, "script-src 'nonce-" NONCE "'"), 1);
    ck_assert_uint_eq(count_of(&page, "\xe2\x80\xae"), 0);
    ck_assert_uint_eq(count_of(&page, "\033"), 0);
    ck_assert_uint_eq(count_of(&page, "\x7f"), 0);
    /* pipeline, table, source, index, result, note and remedy, three of the case */
    ck_assert_uint_eq(count_of(&page, EVIL_SHOWN "\\x1b\\x7f~CONTENT~"), 10);
    ck_assert_uint_eq(count_of(&page, EVIL_SHOWN "  ~CONTENT~"), 1); /* an error is one line */
    buf_release(&page);
}
END_TEST

START_TEST(the_header_names_both_hosts_and_no_path)
{
    struct buf page;
    report.product = (struct product_info){.product = PRODUCT_OPENSEARCH, .version = "2.19.4"};
    subject.table = "articles";
    subject.query = true;
    push_page(&page);
    ck_assert_uint_eq(count_of(&page, "OpenSearch 2.19.4 at search.example:9200, [::1]:9201</dd>"),
                      1);
    ck_assert_uint_eq(count_of(&page, "secret-path"), 0);
    ck_assert_uint_eq(count_of(&page, "token=1"), 0);
    ck_assert_uint_eq(count_of(&page, "public.articles, through from.query</dd>"), 1);
    ck_assert_uint_eq(count_of(&page, "<dd>2026-11-18 11:06:40 UTC</dd>"), 1);
    buf_release(&page);
}
END_TEST

START_TEST(steps_are_open_and_say_in_words_what_they_found)
{
    struct buf page;
    push_page(&page);
    ck_assert_uint_eq(count_of(&page, "<details open>"), VALIDATE_AGAINST);
    ck_assert_uint_eq(count_of(&page, "<span class=\"state\">failed</span>"), 1);
    ck_assert_uint_eq(count_of(&page, "<span class=\"state\">skipped</span>"),
                      VALIDATE_AGAINST - 1);
    ck_assert_uint_eq(count_of(&page, "A filter must give the same rows as SQL. <b>not tried</b>"),
                      1);
    ck_assert_uint_eq(count_of(&page, "and 7 more"), 1);
    ck_assert_uint_eq(count_of(&page, "to be corrected before the initial load"), 1);
    buf_release(&page);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli/validation_page");
    TCase *page = tcase_create("page");
    tcase_add_checked_fixture(page, begin, NULL);
    tcase_add_test(page, hostile_texts_stay_texts);
    tcase_add_test(page, the_header_names_both_hosts_and_no_path);
    tcase_add_test(page, steps_are_open_and_say_in_words_what_they_found);
    suite_add_tcase(suite, page);
    return suite_end(suite);
}
