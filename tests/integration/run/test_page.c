/* SPDX-License-Identifier: Apache-2.0 */
/* run: the status page in a browser (headless Chromium), if installed. */
#include "listens.h"

#define BROWSER "/usr/bin/chromium"

/* Returns the document after the page has refreshed a few times. */
static char *browse(const struct world *w, const struct listens *l)
{
    struct program p;
    struct program_result result;
    char profile[600];
    snprintf(profile, sizeof(profile), "--user-data-dir=%s/browser", w->dir);
    const char *const argv[] = {BROWSER,         "--headless=new", "--no-sandbox",
                                "--disable-gpu", profile,          "--virtual-time-budget=8000",
                                "--dump-dom",    l->url,           NULL};
    program_start(&p, argv, NULL);
    program_finish(&p, 120000, &result);
    ck_assert_msg(result.exit_code == 0, "%d: %s", result.exit_code, result.err);
    char *document = strdup(result.out);
    program_result_release(&result);
    return document;
}

START_TEST(it_shows_states_and_takes_no_text_for_markup)
{
    struct world w;
    struct listens l;
    world_start(&w, 100, NULL);
    world_pipeline(&w, "\"on_schema_change\": \"stop\"}, {\"name\": \"authors\", \"from\": "
                       "{\"table\": \"public.<b id=injected>x\"}, \"to\": {\"index\": "
                       "\"shop-authors\", \"mappings\": {\"properties\": {\"name\": {\"type\": "
                       "\"text\"}}}}");
    sql_exec(w.conn, "create table \"<b id=injected>x\" (id bigint primary key, name text)");
    world_install(&w);
    listens_start(&l, &w);
    listens_await(&l, "/readyz", 200, "authors: following");
    char *document = browse(&w, &l);
    expect_text(document, ">articles</button></h2>");
    expect_text(document, ">authors</button></h2>");
    expect_text(document, "all 2 are well");
    expect_text(document, ">from database ");
    expect_text(document, " on 127.0.0.1:");
    expect_text(document, " (PostgreSQL ");
    expect_text(document, ", devsearch)");
    expect_text(document, ">following</p>");
    ck_assert_ptr_null(strstr(document, "asking ..."));
    free(document);
    sql_exec(w.conn, "drop table \"<b id=injected>x\"");
    listens_await(&l, "/readyz", 503, "not ready: authors: stopped with exit code 1: ");
    document = browse(&w, &l);
    expect_text(document, "1 of 2 needs attention");
    expect_text(document, ">stopped, is tried again</p>");
    ck_assert(strstr(document, ">authors</button></h2>") <
              strstr(document, ">articles</button></h2>"));
    expect_text(document, "&lt;b id=injected&gt;x");
    ck_assert_ptr_null(strstr(document, "<b id="));
    free(document);
    struct program_result result;
    stop_run(&l.program, SIGTERM, 1, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {it_shows_states_and_takes_no_text_for_markup};
    if (access(BROWSER, X_OK) != 0) {
        puts("skip: " BROWSER " is not installed");
        return 77;
    }
    return suite_run("run/page", tests, 1);
}
