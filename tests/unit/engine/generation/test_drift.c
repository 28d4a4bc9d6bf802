/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between two definitions, and whether they are additive. */
#include "rowferry/engine/generation/drift.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "suite.h"

#define WORDS 65536
#define PROPERTIES(more) "{\"dynamic\":\"strict\",\"properties\":{" more "}}"
#define TITLE "\"title\":{\"type\":\"text\"}"
#define PRICE "\"price\":{\"type\":\"long\"}"
#define BODY "\"body\":{\"type\":\"text\"}"
#define KEPT "p key=source_id bigint\np where=published\n"
#define TITLE_READ "c title=text\nf title=title\n"
#define PRICE_READ "c price=bigint\nf price=price\n"

/* A pipeline: its mapping and the lines of its table, "p key a" for drift_words_push. */
struct side {
    const char *identity;
    const char *mapping;
    const char *through;
    const char *table; /* lines: kind, name, "=", value */
    bool unknown;      /* its canonical text is unknown */
};

static void push_table(struct buf *out, const char *lines)
{
    char name[128];
    char value[512];
    for (const char *at = lines; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        size_t split = strcspn(at, "=");
        snprintf(name, sizeof(name), "%.*s", (int)(split - 2), at + 2);
        snprintf(value, sizeof(value), "%.*s", (int)(len - split - 1), at + split + 1);
        drift_words_push(out, (enum word_kind)at[0], name, value);
        at += len + (at[len] == '\n');
    }
}

/* Uses the canonical texts as fingerprints, so they differ whenever the texts do. */
static void find(struct drift_found *found, const struct side *was, const struct side *is)
{
    struct buf words[4];
    for (int i = 0; i < 4; i++) {
        buf_init(&words[i], WORDS);
    }
    drift_words_push_mapping(&words[0], was->mapping, was->through);
    drift_words_push_mapping(&words[1], is->mapping, is->through);
    push_table(&words[2], was->table);
    push_table(&words[3], is->table);
    const struct drift_side before = {was->identity, buf_text(&words[0]), buf_text(&words[2]),
                                      was->unknown ? NULL : buf_text(&words[0]),
                                      was->unknown ? NULL : buf_text(&words[2])};
    const struct drift_side now = {is->identity, buf_text(&words[1]), buf_text(&words[3]),
                                   buf_text(&words[1]), buf_text(&words[3])};
    drift_find(found, &before, &now);
    for (int i = 0; i < 4; i++) {
        buf_release(&words[i]);
    }
}

static const struct side plain = {.identity = "1/shop",
                                  .mapping = PROPERTIES(TITLE "," PRICE),
                                  .table = KEPT TITLE_READ PRICE_READ};

/* Expects lines and added properties, each list joined with "; ". */
static void expect(const struct side *was, const struct side *is, enum drift_kind kind,
                   const char *lines, const char *added)
{
    struct drift_found found;
    struct buf text;
    find(&found, was, is);
    buf_init(&text, WORDS);
    for (size_t i = 0; i < found.line_count; i++) {
        buf_printf(&text, "%s%s", i > 0 ? "; " : "", found.lines[i]);
    }
    ck_assert_str_eq(buf_text(&text), lines);
    buf_reset(&text);
    for (size_t i = 0; i < found.added_count; i++) {
        buf_printf(&text, "%s%s", i > 0 ? "; " : "", found.added[i]);
    }
    ck_assert_int_eq(found.kind, kind);
    if (kind == DRIFT_ADDITIVE) {
        ck_assert_str_eq(buf_text(&text), added);
        ck_assert_ptr_nonnull(found.additions);
    }
    ck_assert_int_eq(found.what != NULL, kind != DRIFT_NONE);
    buf_release(&text);
    drift_release(&found);
}

static void expect_rebuild(const struct side *is, const char *lines)
{
    expect(&plain, is, DRIFT_REBUILD, lines, "");
}

START_TEST(what_is_the_same_is_no_drift)
{
    expect(&plain, &plain, DRIFT_NONE, "", "");
}
END_TEST

START_TEST(a_property_more_with_its_column_is_added)
{
    struct side is = plain;
    is.mapping = PROPERTIES(TITLE "," BODY "," PRICE);
    is.table = KEPT TITLE_READ "c other=text\nf body=other\n" PRICE_READ;
    expect(&plain, &is, DRIFT_ADDITIVE, "body: added {\"type\":\"text\"}", "body");
}
END_TEST

START_TEST(a_property_more_from_a_column_that_is_read_already_is_added)
{
    struct side is = plain;
    is.mapping = PROPERTIES(TITLE "," PRICE "," BODY);
    is.table = KEPT TITLE_READ PRICE_READ "f body=title";
    expect(&plain, &is, DRIFT_ADDITIVE, "body: added {\"type\":\"text\"}", "body");
}
END_TEST

START_TEST(a_sub_field_or_a_property_that_the_service_fills_is_added)
{
    struct side is = plain;
    is.mapping =
        PROPERTIES("\"title\":{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":\"keyword\"}}},"
                   "\"vector\":{\"type\":\"knn_vector\",\"dimension\":3}," PRICE);
    expect(&plain, &is, DRIFT_ADDITIVE,
           "title.raw: added {\"type\":\"keyword\"}; "
           "vector: added {\"type\":\"knn_vector\",\"dimension\":3}",
           "title.raw; vector");
}
END_TEST

START_TEST(another_order_is_taken_as_it_is)
{
    struct side is = plain;
    is.mapping = PROPERTIES(PRICE "," TITLE);
    is.table = KEPT PRICE_READ TITLE_READ;
    expect(&plain, &is, DRIFT_ADDITIVE, "", "");
}
END_TEST

START_TEST(another_mapping_asks_for_a_rebuild)
{
    struct side is = plain;
    is.mapping = PROPERTIES("\"title\":{\"type\":\"keyword\"}," PRICE);
    expect_rebuild(&is, "title: changed type from \"text\" to \"keyword\"");
    is.mapping = PROPERTIES("\"title\":{\"type\":\"keyword\"}," PRICE "," BODY);
    expect_rebuild(
        &is, "title: changed type from \"text\" to \"keyword\"; body: added {\"type\":\"text\"}");
    is.mapping = PROPERTIES(TITLE);
    is.table = KEPT TITLE_READ;
    expect_rebuild(&is, "price: removed {\"type\":\"long\"}");
    is = plain;
    is.through = "trim";
    expect_rebuild(&is, "ingest_pipeline: none -> trim");
    is.mapping = PROPERTIES(TITLE "," BODY "," PRICE);
    expect_rebuild(&is, "body: added {\"type\":\"text\"}; ingest_pipeline: none -> trim");
}
END_TEST

START_TEST(another_table_asks_for_a_rebuild)
{
    struct side is = plain;
    is.table = "p key=a int, b int\np where=published\n" TITLE_READ PRICE_READ;
    expect_rebuild(&is, "key: source_id bigint -> a int, b int");
    is.table = "p key=source_id bigint\np where=not published\n" TITLE_READ PRICE_READ;
    expect_rebuild(&is, "where: published -> not published");
    is.table = "p key=source_id bigint\n" TITLE_READ PRICE_READ "p query=select 1";
    expect_rebuild(&is, "where: published -> none; query: none -> select 1");
    is.table = KEPT "c title=varchar\nf title=title\n" PRICE_READ;
    expect_rebuild(&is, "column title: text -> varchar");
    is.table = KEPT "c other=text\nf title=other\n" PRICE_READ;
    expect_rebuild(&is, "fields.title: title -> other");
    is.table = KEPT TITLE_READ PRICE_READ "p depends_on a (id)=select 1";
    expect_rebuild(&is, "depends_on a (id): none -> select 1");
}
END_TEST

/* An existing property gets a column. Existing documents lack it, which the mapping does not
 * show. */
START_TEST(a_field_of_an_old_property_is_no_addition)
{
    struct side was = plain;
    was.table = KEPT PRICE_READ;
    expect(&was, &plain, DRIFT_REBUILD, "fields.title: none -> title", "");
}
END_TEST

START_TEST(an_addition_beside_another_condition_asks_for_a_rebuild)
{
    struct side is = plain;
    is.mapping = PROPERTIES(TITLE "," BODY "," PRICE);
    is.table = "p key=source_id bigint\np where=price > 1\n" TITLE_READ
               "c body=text\nf body=body\n" PRICE_READ;
    expect_rebuild(&is, "body: added {\"type\":\"text\"}; where: published -> price > 1");
}
END_TEST

START_TEST(two_conditions_of_one_name_are_both_looked_at)
{
    struct side was = plain;
    struct side is = plain;
    was.table = "p depends_on a (id)=one";
    is.table = "p depends_on a (id)=one\np depends_on a (id)=two";
    expect(&was, &is, DRIFT_REBUILD, "depends_on a (id): none -> two", "");
}
END_TEST

START_TEST(another_database_asks_for_a_rebuild)
{
    struct side is = plain;
    is.identity = "2/shop";
    expect_rebuild(&is, "");
    is.mapping = PROPERTIES(TITLE "," BODY "," PRICE);
    expect_rebuild(&is, "");
}
END_TEST

START_TEST(what_nobody_knows_in_words_is_no_addition)
{
    struct side was = plain;
    struct side is = plain;
    was.unknown = true;
    expect(&was, &is, DRIFT_NONE, "", "");
    is.mapping = PROPERTIES(TITLE "," BODY "," PRICE);
    expect(&was, &is, DRIFT_REBUILD, "", "");
}
END_TEST

SUITE_MAIN("engine/drift", what_is_the_same_is_no_drift, a_property_more_with_its_column_is_added,
           a_property_more_from_a_column_that_is_read_already_is_added,
           a_sub_field_or_a_property_that_the_service_fills_is_added,
           another_order_is_taken_as_it_is, another_mapping_asks_for_a_rebuild,
           another_table_asks_for_a_rebuild, a_field_of_an_old_property_is_no_addition,
           an_addition_beside_another_condition_asks_for_a_rebuild,
           two_conditions_of_one_name_are_both_looked_at, another_database_asks_for_a_rebuild,
           what_nobody_knows_in_words_is_no_addition)
