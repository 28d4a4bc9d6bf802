/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration stored with a generation is read back unchanged. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rowferry/config/config.h"
#include "suite.h"

static struct config *load(const char *text)
{
    struct config *c;
    struct err err;
    char path[] = "/tmp/rowferry-built-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    ck_assert_msg(config_load(&c, path, &err) == 0, "%s", err.message);
    unlink(path);
    return c;
}

static char *written(const struct pipeline_config *p)
{
    struct buf out;
    buf_init(&out, (size_t)1 << 20);
    config_write_built(p, &out);
    return buf_detach(&out);
}

static void expect_same(const char *pipeline)
{
    struct config *again;
    struct err err;
    char *whole = NULL;
    ck_assert_int_ge(asprintf(&whole,
                              "{\"source\":{\"uri\":\"postgresql:///shop\"},\"service\":{\"url\":"
                              "\"http://localhost\"},\"pipelines\":[%s]}",
                              pipeline),
                     0);
    struct config *c = load(whole);
    char *text = written(&c->pipelines[0]);
    ck_assert_msg(config_read_built(&again, text, &err) == 0, "%s", err.message);
    char *text_again = written(&again->pipelines[0]);
    ck_assert_str_eq(text, text_again);
    const struct pipeline_config *p = &c->pipelines[0];
    const struct pipeline_config *q = &again->pipelines[0];
    ck_assert_str_eq(p->to.mappings, q->to.mappings);
    ck_assert_pstr_eq(p->from.where, q->from.where);
    ck_assert_pstr_eq(p->from.query, q->from.query);
    ck_assert_pstr_eq(p->from.cursor_column, q->from.cursor_column);
    ck_assert_int_eq(p->from.capture_mode, q->from.capture_mode);
    ck_assert_int_eq(p->from.overlap_ms, q->from.overlap_ms);
    ck_assert_int_eq(p->from.reconcile_ms, q->from.reconcile_ms);
    ck_assert_uint_eq(p->from.key_count, q->from.key_count);
    ck_assert_uint_eq(p->from.dependency_count, q->from.dependency_count);
    ck_assert_uint_eq(p->field_count, q->field_count);
    for (size_t i = 0; i < p->field_count; i++) {
        ck_assert_str_eq(p->fields[i].property, q->fields[i].property);
        ck_assert_pstr_eq(p->fields[i].column, q->fields[i].column);
        ck_assert_pstr_eq(p->fields[i].zone, q->fields[i].zone);
    }
    free(text);
    free(text_again);
    free(whole);
    config_free(c);
    config_free(again);
}

START_TEST(a_pipeline_reads_back_as_it_was)
{
    expect_same("{\"name\":\"a\",\"from\":{\"table\":\"t\"},\"to\":{\"index\":\"i\",\"mappings\":"
                "{\"properties\":{\"title\":{\"type\":\"text\"}}}}}");
    expect_same(
        "{\"name\":\"a\",\"from\":{\"table\":\"\\\"s\\\".\\\"T "
        "\\\"\\\"x\\\"\",\"key\":[\"k\",\"l\"],"
        "\"where\":\"a <> '/\\\"\\u00e9'\",\"capture\":{\"mode\":\"cursor\",\"column\":\"u\","
        "\"overlap\":\"90s\",\"deletes\":{\"reconcile\":\"1h\"}}},\"to\":{\"index\":\"i\","
        "\"ingest_pipeline\":\"p\",\"mappings\":{\"dynamic\":\"strict\",\"properties\":{\"title\":"
        "{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":\"keyword\"}}},\"n\":{\"type\":"
        "\"scaled_float\",\"scaling_factor\":100.5}}}},\"fields\":{\"title\":\"headline\",\"n\":"
        "{\"column\":\"m\",\"zone\":\"UTC\"}}}");
    expect_same(
        "{\"name\":\"a\",\"from\":{\"table\":\"t\",\"query\":\"select 1 as id\\nfrom t\","
        "\"depends_on\":[{\"table\":\"o\",\"key\":[\"x\"],\"keys\":\"select unnest($1)\"}]},"
        "\"to\":{\"index\":\"i\",\"mappings\":{\"properties\":{\"id\":{\"type\":\"long\"}}}},"
        "\"fields\":{\"id\":null}}");
}
END_TEST

SUITE_MAIN("config/config_built", a_pipeline_reads_back_as_it_was)
