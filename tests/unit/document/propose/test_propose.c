/* SPDX-License-Identifier: Apache-2.0 */
/* The proposed property of each column, by type, statistics and sample. */
#include "rowferry/document/propose/propose.h"

#include <stdio.h>

#include "rowferry/base/buf.h"
#include "rows.h"
#include "suite.h"

/* Proposes a single column; the caller releases the result. */
static struct proposed proposed_for(const char *type, const char *declared,
                                    const struct column_facts *facts, enum propose_for product)
{
    struct proposed out;
    struct column column = rows_column("c", type);
    struct column_facts copy = *facts;
    struct table_facts table = {.columns = {&column, 1}, .facts = &copy};
    if (declared != NULL) {
        free(column.declared);
        column.declared = text_copy(declared);
    }
    propose_mapping(&out, &table, NULL, 0, product);
    row_column_release(&column);
    return out;
}

static void expect(const char *type, const char *declared, const struct column_facts *facts,
                   const char *parameters, const char *why)
{
    struct proposed p = proposed_for(type, declared, facts, PROPOSE_OPENSEARCH);
    const struct proposed *c = &p.children[0];
    ck_assert_msg(strcmp(c->parameters, parameters) == 0, "%s: %s", type, c->parameters);
    ck_assert_msg(strstr(c->why, why) != NULL, "%s: %s", type, c->why);
    propose_release(&p);
}

#define KEYWORD "\"type\": \"keyword\""
#define LONG_KEYWORD KEYWORD ", \"ignore_above\": 8191"
#define BOTH                                                                                       \
    "\"type\": \"text\",\n\"fields\": { \"keyword\": { \"type\": \"keyword\", "                    \
    "\"ignore_above\": 256 } }"

static const struct column_facts unknown;

START_TEST(a_text_is_a_keyword_by_few_values_or_without_blanks_else_words)
{
    const struct column_facts few = {
        .analysed = true, .width = 12, .distinct = 40, .sampled = 100, .words = 100};
    const struct column_facts names = {
        .analysed = true, .width = 20, .distinct = -0.9, .sampled = 100, .words = 90};
    const struct column_facts identifiers = {
        .analysed = true, .width = 20, .distinct = -1, .sampled = 100, .words = 2};
    const struct column_facts prose = {
        .analysed = true, .width = 400, .distinct = 3, .sampled = 100, .words = 100};
    const struct column_facts long_one = {
        .analysed = true, .width = 20, .distinct = -1, .sampled = 100, .longest = 9000};
    expect("text", NULL, &few, LONG_KEYWORD, "40 different values");
    expect("text", NULL, &names, BOTH, "words, 20 bytes on average");
    expect("text", NULL, &identifiers, LONG_KEYWORD, "without blanks");
    expect("text", NULL, &prose, "\"type\": \"text\"", "prose, 400 bytes on average");
    expect("text", NULL, &long_one, "\"type\": \"text\"", "prose");
}
END_TEST

START_TEST(without_statistics_a_text_is_both_and_says_so)
{
    const struct column_facts sampled = {.sampled = 100, .words = 0, .longest = 5};
    expect("text", NULL, &unknown, BOTH, "no statistics");
    expect("varchar", "character varying(200)", &sampled, BOTH, "no statistics");
    expect("varchar", "character varying(12)", &unknown, KEYWORD, "character varying(12)");
    expect("text[]", NULL, &unknown, LONG_KEYWORD, "text[]");
}
END_TEST

START_TEST(types_that_say_it_all_need_no_statistics)
{
    static const char *const cases[][2] = {
        {"int2", "short"},        {"int4", "integer"},
        {"int8", "long"},         {"bool", "boolean"},
        {"float4", "float"},      {"float8", "double"},
        {"date", "date"},         {"timestamptz", "date"},
        {"uuid", "keyword"},      {"inet", "ip"},
        {"cidr", "ip_range"},     {"range:int4", "integer_range"},
        {"enum:mood", "keyword"}, {"time", "keyword"},
        {"int4[]", "integer"},    {"range:timestamptz", "date_range"},
        {"numeric", "double"},    {"xml", "text"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char parameters[64];
        snprintf(parameters, sizeof(parameters), "\"type\": \"%s\"", cases[i][1]);
        expect(cases[i][0], NULL, &unknown, parameters, "");
    }
    expect("ltree", NULL, &unknown, LONG_KEYWORD, "ltree");
    expect("numeric", "numeric(12,2)", &unknown,
           "\"type\": \"scaled_float\", \"scaling_factor\": 100", "");
    expect("numeric", "numeric(9,0)", &unknown, "\"type\": \"long\"", "");
    expect("numeric", "numeric(40,2)", &unknown, "\"type\": \"double\"", "15 digits");
}
END_TEST

START_TEST(values_that_a_type_refuses_make_a_keyword_of_it)
{
    const struct column_facts unfit = {.sampled = 10, .unfit = 1};
    const struct column_facts seen = {.sampled = 10};
    expect("float8", NULL, &unfit, KEYWORD, "NaN");
    expect("timestamptz", NULL, &unfit, KEYWORD, "infinity");
    expect("inet", NULL, &unfit, "\"type\": \"ip_range\"", "networks");
    expect("point", NULL, &unknown, KEYWORD, "no values yet");
    expect("point", NULL, &seen, "\"type\": \"geo_point\"", "");
    expect("point", NULL, &unfit, KEYWORD, "out of range");
}
END_TEST

START_TEST(a_vector_is_called_as_the_product_calls_it)
{
    const struct column_facts list = {.sampled = 10, .least = 16, .most = 16};
    const struct column_facts flat = {.sampled = 10, .least = 16, .most = 16, .flat = 1};
    const struct column_facts ragged = {.sampled = 10, .least = 15, .most = 16};
    expect("float4[]", NULL, &list, "\"type\": \"knn_vector\", \"dimension\": 16", "a vector");
    expect("float4[]", NULL, &ragged, "\"type\": \"float\"", "");
    expect("vector", "vector(384)", &unknown, "\"type\": \"knn_vector\", \"dimension\": 384", "");
    struct proposed p = proposed_for("vector", NULL, &flat, PROPOSE_ELASTICSEARCH);
    ck_assert_str_eq(p.children[0].parameters,
                     "\"type\": \"dense_vector\", \"dims\": 16, \"similarity\": \"l2_norm\"");
    ck_assert(!propose_has_vector(&p));
    propose_release(&p);
    p = proposed_for("vector", NULL, &list, PROPOSE_ANY);
    ck_assert(p.children[0].left_out && !propose_has_vector(&p));
    propose_release(&p);
    p = proposed_for("vector", NULL, &ragged, PROPOSE_OPENSEARCH);
    ck_assert(p.children[0].left_out);
    propose_release(&p);
}
END_TEST

/* --- JSON --------------------------------------------------------------------------------------
 */

static struct shape member(const char *name)
{
    return (struct shape){.name = text_copy(name)};
}

static struct shape with_members(struct shape of, const struct shape *members, size_t count)
{
    of.members = mem_zero(count, sizeof(*members));
    of.member_count = count;
    memcpy(of.members, members, count * sizeof(*members));
    return of;
}

START_TEST(json_is_mapped_where_a_sample_agrees)
{
    struct shape title = member("title");
    struct shape odd = member("odd");
    struct shape dotted = member("a.b");
    struct shape lines = member("lines");
    struct shape amount = member("amount");
    title.strings = title.words = 9;
    odd.strings = odd.numbers = 5;
    dotted.numbers = 1;
    lines.objects = lines.listed = 20;
    amount.numbers = amount.whole = 20;
    lines = with_members(lines, &amount, 1);
    const struct shape members[] = {title, odd, dotted, lines};
    struct shape root = {.objects = 10};
    root = with_members(root, members, 4);
    const struct column_facts facts = {.shape = &root};
    struct proposed p = proposed_for("jsonb", NULL, &facts, PROPOSE_OPENSEARCH);
    const struct proposed *c = &p.children[0];
    ck_assert_str_eq(c->parameters, "\"type\": \"object\", \"dynamic\": false");
    ck_assert_uint_eq(c->count, 2);
    ck_assert_str_eq(c->children[0].name, "title");
    ck_assert_str_eq(c->children[0].parameters, BOTH);
    ck_assert_str_eq(c->children[1].parameters, "\"type\": \"nested\", \"dynamic\": false");
    ck_assert_str_eq(c->children[1].children[0].parameters,
                     "\"type\": \"long\", \"ignore_malformed\": true");
    ck_assert_uint_eq(propose_fields(&p), 1 + 2 + 1 + 1);
    propose_release(&p);
    propose_json_shape_release(&root);
}
END_TEST

START_TEST(json_without_a_form_is_kept_and_not_searched)
{
    struct shape scalars = {.strings = 3, .objects = 4};
    struct shape names = {.objects = 5, .cut = true};
    struct shape tags = {.strings = 9, .longest = 5};
    struct shape one = member("k1");
    names = with_members(names, &one, 1);
    const struct column_facts mixed = {.shape = &scalars};
    const struct column_facts open = {.shape = &names};
    const struct column_facts list = {.shape = &tags};
    expect("jsonb", NULL, &unknown, "\"type\": \"object\", \"enabled\": false", "no values");
    expect("jsonb", NULL, &mixed, "\"type\": \"object\", \"enabled\": false", "several kinds");
    expect("json", NULL, &open, "\"type\": \"flat_object\"", "names that are data");
    expect("jsonb", NULL, &list, LONG_KEYWORD, "strings");
    propose_json_shape_release(&names);
}
END_TEST

/* --- names -------------------------------------------------------------------------------------
 */

START_TEST(names_become_such_as_the_service_takes)
{
    static const char *const names[] = {"id", "a.b", "a_b", "_id", "source_id", "Größe", " "};
    static const char *const expected[] = {
        "id", "a_b", "a_b_2", "column_id", "column_source_id", "Größe", " column"};
    struct column columns[7];
    struct column_facts facts[7] = {{0}};
    struct proposed p;
    static const char *const key[] = {"id"};
    for (size_t i = 0; i < 7; i++) {
        columns[i] = rows_column(names[i], "int4");
    }
    const struct table_facts table = {.columns = {columns, 7}, .facts = facts};
    propose_mapping(&p, &table, key, 1, PROPOSE_ANY);
    for (size_t i = 0; i < 7; i++) {
        ck_assert_str_eq(p.children[i].name, expected[i]);
        bool same = strcmp(names[i], expected[i]) == 0;
        ck_assert_int_eq(p.children[i].column == NULL, same);
        row_column_release(&columns[i]);
    }
    ck_assert_ptr_nonnull(strstr(p.children[0].why, "of the key"));
    propose_release(&p);
}
END_TEST

START_TEST(a_key_named_source_id_stays_what_it_is)
{
    static const char *const key[] = {"source_id"};
    struct column column = rows_column("source_id", "int8");
    struct column_facts facts = {0};
    const struct table_facts table = {.columns = {&column, 1}, .facts = &facts};
    struct proposed p;
    propose_mapping(&p, &table, key, 1, PROPOSE_ANY);
    ck_assert_str_eq(p.children[0].name, "source_id");
    ck_assert_str_eq(p.children[0].parameters, KEYWORD);
    propose_release(&p);
    row_column_release(&column);
}
END_TEST

static void expect_names(const char *text, const char *index, const char *pipeline)
{
    struct buf out;
    buf_init(&out, 4096);
    propose_index_name(&out, text);
    ck_assert_str_eq(buf_text(&out), index);
    buf_reset(&out);
    propose_pipeline_name(&out, text);
    ck_assert_str_eq(buf_text(&out), pipeline);
    buf_release(&out);
}

START_TEST(a_name_of_empty_words_alone_says_nothing)
{
    static const char *const nameless[] = {"test", "data", "index1", "my-index_2", "test.data-01"};
    static const char *const named[] = {"shop-articles", "articles", "test-articles", "data-x"};
    for (size_t i = 0; i < sizeof(nameless) / sizeof(nameless[0]); i++) {
        ck_assert_msg(propose_index_is_nameless(nameless[i]), "%s", nameless[i]);
    }
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        ck_assert_msg(!propose_index_is_nameless(named[i]), "%s", named[i]);
    }
}
END_TEST

START_TEST(an_index_has_a_name_that_is_legal)
{
    expect_names("shop-articles", "shop-articles", "shop-articles");
    expect_names("Shop-\"Odd.One\".\"Group\"", "shop-odd-one-group", "Shop-Odd-One-Group");
    expect_names("_x y*?<>|,#:z", "x-y-z", "x-y-z");
    expect_names("äöü", "table", "table");
    expect_names("a12345678901234567890123456789012345678-b",
                 "a12345678901234567890123456789012345678-b",
                 "a12345678901234567890123456789012345678");
}
END_TEST

SUITE_MAIN("document/propose", a_text_is_a_keyword_by_few_values_or_without_blanks_else_words,
           without_statistics_a_text_is_both_and_says_so, types_that_say_it_all_need_no_statistics,
           values_that_a_type_refuses_make_a_keyword_of_it,
           a_vector_is_called_as_the_product_calls_it, json_is_mapped_where_a_sample_agrees,
           json_without_a_form_is_kept_and_not_searched, names_become_such_as_the_service_takes,
           a_key_named_source_id_stays_what_it_is, an_index_has_a_name_that_is_legal,
           a_name_of_empty_words_alone_says_nothing)
