/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are longer than an `_id` can be: with "id": "sha256" their rows have documents too. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "http.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define AUTHORIZATION "ApiKey " WORLD_API_KEY
#define FORM "'sha256:' || repeat('0123456789abcdef', 4)"
#define ID                                                                                         \
    "case when octet_length(k) > 512 or k ~ '^sha256:[0-9a-f]{64}$' then 'sha256:' || "            \
    "encode(sha256(convert_to(k, 'UTF8')), 'hex') else k end"

static const char query[] = "select " ID ", jsonb_build_object('source_id', k, 'n', n) from keyed "
                            "where octet_length(k) <= 8192";

static void configure(struct world *w, const char *to, const char *from)
{
    struct buf text;
    buf_init(&text, 65536);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
               "\"%s\", \"auth\": {\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": "
               "\"%s/keys.db\"}, \"pipelines\": [{\"name\": \"keys\", \"from\": {\"table\": "
               "\"public.keyed\", \"key\": [\"k\"]%s}, \"to\": {\"index\": \"keys\", \"mappings\": "
               "{\"properties\": {\"n\": {\"type\": \"integer\"}}}%s}}]}\n",
               w->uri, w->service.url, w->dir, w->dir, from, to);
    free(w->config);
    w->config = scratch_write(w->dir, "keys.json", buf_text(&text));
    buf_release(&text);
}

/* Creates rows with keys around the limits, and one with the form of a hash. */
static void keys_start(struct world *w, const char *from)
{
    world_start(w, 0, NULL);
    sql_exec(w->conn,
             "create table keyed (k text primary key, n int); insert into keyed select "
             "repeat('k', len), len from unnest(array[1, 511, 512, 513, 2000]) len;"
             "insert into keyed values (" FORM ", 64), (repeat(U&'\\+01F418\\0001', 150), 750)");
    configure(w, ", \"id\": \"sha256\"", from);
    world_install(w);
}

static void sync_equals(struct world *w, int64_t rows)
{
    rowferry_expect(0, w->config, "sync", NULL);
    expect_equal(rows, w->conn, query, w->service.url, "keys", AUTHORIZATION);
}

static char *key_of(struct world *w, int n)
{
    return sql_text(w->conn, "select k from keyed where n = %d", n);
}

/* Writes or deletes the document of a key without the program. */
static void meddle(struct world *w, int status, const char *method, const char *key, const char *n)
{
    struct buf path;
    struct buf body;
    char *id =
        sql_text(w->conn, "select replace(" ID ", ':', '%%3A') from (select %s as k) q", key);
    char *text = sql_text(w->conn, "select %s", key);
    buf_init(&path, 4096);
    buf_init(&body, 65536);
    buf_printf(&path, "/keys/_doc/%s?refresh=true", id);
    buf_printf(&body, "{\"source_id\":\"%s\",\"n\":%s}", text, n);
    json_object_put(reply_json(status, method, w->service.url, buf_text(&path),
                               strcmp(method, "PUT") == 0 ? buf_text(&body) : NULL, AUTHORIZATION));
    buf_release(&path);
    buf_release(&body);
    free(id);
    free(text);
}

static void says(struct world *w, int exit_code, const char *command, const char *operand,
                 const char *words)
{
    struct program_result result;
    rowferry_run(&result, w->config, command, operand, NULL);
    ck_assert_msg(result.exit_code == exit_code, "%d %.900s%.900s", result.exit_code, result.out,
                  result.err);
    ck_assert_msg(strstr(result.out, words) != NULL || strstr(result.err, words) != NULL,
                  "no %s in %.900s%.900s", words, result.out, result.err);
    program_result_release(&result);
}

START_TEST(rows_with_long_keys_come_change_and_go)
{
    struct world w;
    keys_start(&w, "");
    says(&w, 0, "validate", NULL, "");
    sync_equals(&w, 7);
    sql_exec(w.conn, "update keyed set n = n + 1");
    sync_equals(&w, 7);
    rowferry_expect(0, w.config, "verify", NULL);
    char *key = key_of(&w, 2001);
    says(&w, 0, "document", key, "\"_id\":\"sha256:");
    rowferry_expect(0, w.config, "resync", key, NULL);
    free(key);
    sql_exec(w.conn, "update keyed set k = k || 'x' where n in (513, 514, 65);"
                     "delete from keyed where n in (2001, 751)");
    sync_equals(&w, 5);
    rowferry_expect(0, w.config, "reindex", NULL);
    expect_equal(5, w.conn, query, w.service.url, "keys", AUTHORIZATION);
    sql_exec(w.conn, "truncate keyed; insert into keyed values (repeat('k', 600), 1)");
    says(&w, 1, "sync", NULL, "the guard stopped the pipeline");
    rowferry_expect(0, w.config, "sync", "--allow-deletes", NULL);
    sync_equals(&w, 1);
    world_stop(&w);
}
END_TEST

START_TEST(a_cursor_reconciles_documents_of_long_keys)
{
    struct world w;
    keys_start(&w, ", \"capture\": {\"mode\": \"cursor\", \"column\": \"n\", \"deletes\": "
                   "{\"reconcile\": \"1s\"}}");
    sync_equals(&w, 7);
    sql_exec(w.conn, "delete from keyed where n in (513, 750, 64)");
    struct deadline deadline = deadline_after(WAIT_MS);
    struct comparison c;
    do { /* the reconcile is due after a second */
        ck_assert(deadline_wait(&deadline));
        rowferry_expect(0, w.config, "sync", NULL);
        compare(&c, w.conn, query, w.service.url, "keys", AUTHORIZATION);
        free(c.first);
    } while (c.differences > 0);
    ck_assert_int_eq(c.documents, 4);
    world_stop(&w);
}
END_TEST

START_TEST(verify_finds_and_repairs_documents_of_long_keys)
{
    static const char *const first = "repeat('k', 513)";
    struct world w;
    keys_start(&w, "");
    sync_equals(&w, 7);
    meddle(&w, 200, "PUT", first, "99");
    meddle(&w, 201, "PUT", "repeat('m', 600)", "1");
    meddle(&w, 200, "DELETE", "repeat('k', 2000)", "1");
    meddle(&w, 200, "DELETE", FORM, "1");
    says(&w, 4, "verify", "--json", "\"missing\":2,\"extra\":1,\"altered\":1");
    rowferry_expect(0, w.config, "verify", "--repair", NULL);
    expect_equal(7, w.conn, query, w.service.url, "keys", AUTHORIZATION);
    world_stop(&w);
}
END_TEST

/* Writes a document that no key can have. */
static void mislay(struct world *w, int status, const char *document)
{
    json_object_put(reply_json(status, "PUT", w->service.url,
                               "/keys/_doc/"
                               "sha256%3A0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
                               "abcdef?refresh=true",
                               document, AUTHORIZATION));
}

START_TEST(a_hash_of_another_key_is_named)
{
    struct world w;
    keys_start(&w, "");
    sync_equals(&w, 7);
    mislay(&w, 201, "{\"n\":1}");
    says(&w, 1, "verify", NULL, "its _id is a hash, but it has no source_id");
    mislay(&w, 200, "{\"source_id\":\"other\"}");
    says(&w, 1, "verify", NULL, "its _id is a hash, but not that of its source_id");
    world_stop(&w);
}
END_TEST

START_TEST(a_key_that_is_too_long_for_the_change_log_is_a_dead_letter)
{
    struct world w;
    keys_start(&w, "");
    sql_exec(w.conn, "insert into keyed values (repeat('z', 8192), 1), (repeat('z', 8193), 2)");
    says(&w, 3, "sync", NULL, "rejected=1");
    says(&w, 0, "deadletter", "list", "a key of more than 8192 bytes");
    sql_exec(w.conn, "update keyed set n = 5 where n < 3; insert into keyed values "
                     "(repeat('z', 513), 6), (repeat('y', 9000), 7)");
    says(&w, 3, "sync", NULL, "rejected=2");
    expect_equal(9, w.conn, query, w.service.url, "keys", AUTHORIZATION);
    sql_exec(w.conn, "delete from keyed where octet_length(k) > 8192");
    says(&w, 3, "sync", NULL, "1 dead letter open"); /* of the load, with its whole key */
    expect_equal(9, w.conn, query, w.service.url, "keys", AUTHORIZATION);
    rowferry_expect(0, w.config, "verify", NULL);
    world_stop(&w);
}
END_TEST

START_TEST(another_form_of_ids_asks_for_another_index)
{
    struct world w;
    keys_start(&w, "");
    configure(&w, "", "");
    says(&w, 3, "sync", NULL, "rejected=3");
    configure(&w, ", \"id\": \"sha256\"", "");
    says(&w, 1, "sync", NULL, "rowferry reindex");
    says(&w, 4, "check", NULL, "key, to.id, to.routing");
    rowferry_expect(0, w.config, "reindex", NULL);
    sync_equals(&w, 7);
    rowferry_expect(0, w.config, "verify", NULL);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/long_ids", rows_with_long_keys_come_change_and_go,
           a_cursor_reconciles_documents_of_long_keys,
           verify_finds_and_repairs_documents_of_long_keys, a_hash_of_another_key_is_named,
           a_key_that_is_too_long_for_the_change_log_is_a_dead_letter,
           another_form_of_ids_asks_for_another_index)
