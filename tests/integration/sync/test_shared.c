/* SPDX-License-Identifier: Apache-2.0 */
/* Two pipelines on one table: one change log, two positions. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

static void configure(struct world *w)
{
    static const char mapping[] =
        "\"mappings\": {\"properties\": {\"title\": {\"type\": \"text\"}}}";
    struct buf text;
    buf_init(&text, 64 * 1024);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"},\n"
               "\"service\": {\"url\": \"%s\", \"auth\": {\"api_key\": {\"file\": \"%s/key\"}}},\n"
               "\"state\": {\"path\": \"%s/state.db\"}, \"limits\": {\"retry_budget\": \"20s\"},\n"
               "\"pipelines\": [{\"name\": \"all\", \"from\": {\"table\": \"public.articles\"},\n"
               "\"to\": {\"index\": \"all\", %s}},\n"
               "{\"name\": \"some\", \"from\": {\"table\": \"public.articles\", \"where\": "
               "\"published\"},\n\"to\": {\"index\": \"some\", %s}}]}\n",
               w->uri, w->service.url, w->dir, w->dir, mapping, mapping);
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", buf_text(&text));
    buf_release(&text);
}

static void expect_index(struct world *w, const char *index, const char *condition)
{
    struct buf query;
    buf_init(&query, 4096);
    buf_printf(&query,
               "select source_id::text, jsonb_build_object('source_id', source_id::text, 'title', "
               "title) from articles where %s",
               condition);
    expect_equal(sql_int(w->conn, "select count(*) from articles where %s", condition), w->conn,
                 buf_text(&query), w->service.url, index, "ApiKey " WORLD_API_KEY);
    buf_release(&query);
}

/* One is synced for a while without the other; entries it has read stay for the other. */
START_TEST(two_pipelines_on_one_table_miss_nothing_of_each_other)
{
    struct world w;
    world_start(&w, 200, NULL);
    configure(&w);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    expect_index(&w, "all", "true");
    expect_index(&w, "some", "published");
    for (int i = 1; i <= 3; i++) {
        sql_exec(w.conn,
                 "update articles set title = 'turn %d', published = not published where source_id "
                 "%% 3 = %d %% 3; delete from articles where source_id %% 50 = %d",
                 i, i, i);
        rowferry_expect(0, w.config, "sync", i == 2 ? "some" : "all", NULL);
        expect_index(&w, i == 2 ? "some" : "all", i == 2 ? "published" : "true");
    }
    rowferry_expect(0, w.config, "sync", NULL);
    expect_index(&w, "all", "true");
    expect_index(&w, "some", "published");
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/shared", two_pipelines_on_one_table_miss_nothing_of_each_other)
