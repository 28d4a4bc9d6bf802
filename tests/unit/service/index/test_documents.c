/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of a data stream by id: one per key, in any backing index. */
#include "rowferry/service/index/documents.h"

#include "fixture.h"
#include "suite.h"

#define HIT(index, id, version)                                                                    \
    "{\"_index\":\"" index "\",\"_id\":\"" id "\",\"_version\":" version                           \
    ",\"_source\":{\"in\":\"" index "\"}}"
#define HITS(hits) "{\"timed_out\":false,\"hits\":{\"hits\":[" hits "]}}"

struct asking {
    char texts[2][ANSWER_BYTES];
    const char *answers[3];
    struct fixture f;
    struct documents documents;
};

/* Plays a refresh, then this answer to the search. */
static int ask(struct asking *a, const char *body, const struct span *keys, size_t count)
{
    *a = (struct asking){.f.options.stream = true};
    a->answers[0] = answer_of(a->texts[0], 200, "{\"_shards\":{\"failed\":0}}");
    a->answers[1] = answer_of(a->texts[1], 200, body);
    start(&a->f, a->answers, SIZE_MAX);
    documents_init(&a->documents);
    return documents_get(a->f.service, "ev", keys, count, true, 65536, &a->documents, &a->f.err);
}

static void done(struct asking *a)
{
    documents_release(&a->documents);
    stop(&a->f);
}

START_TEST(with_one_id_in_several_backing_indices_the_last_counts)
{
    static const struct {
        const char *older, *newer;
        const char *hits, *turned;
    } cases[] = {
#define CASE(older, newer)                                                                         \
    {older, newer, HITS(HIT(older, "7", "1") "," HIT(newer, "7", "1")),                            \
     HITS(HIT(newer, "7", "1") "," HIT(older, "7", "1"))}
        CASE(".ds-ev-000001", ".ds-ev-000002"),
        CASE(".ds-ev-2026.11.22-000009", ".ds-ev-2026.12.01-000010"),
        CASE(".ds-ev-2026.11.22-999999", ".ds-ev-2026.12.01-1000000"),
        /* names that a lifecycle gives to older indices */
        CASE("shrink-ab1c-.ds-ev-2026.11.22-000001", ".ds-ev-2026.11.23-000002"),
        CASE("partial-.ds-ev-2026.11.22-000001", "restored-.ds-ev-2026.11.23-000002"),
        CASE("restored-.ds-ev-2026.11.22-000001", "partial-.ds-ev-2026.11.23-000002"),
    };
    const struct span key = span_make("7", 1);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct asking a;
        char source[128];
        const char *body = i % 2 == 0 ? cases[i / 2].hits : cases[i / 2].turned;
        snprintf(source, sizeof(source), "{\"in\":\"%s\"}", cases[i / 2].newer);
        ck_assert_int_eq(ask(&a, body, &key, 1), 0);
        ck_assert_msg(span_is(a.documents.items[0].source, source), "%.*s",
                      (int)a.documents.items[0].source.len, a.documents.items[0].source.data);
        done(&a);
    }
}
END_TEST

START_TEST(documents_come_in_the_order_of_the_keys)
{
    struct asking a;
    const struct span keys[] = {span_make("b", 1), span_make("a", 1), span_make("\"/", 2),
                                span_make("gone", 4)};
    ck_assert_int_eq(ask(&a,
                         HITS(HIT(".ds-ev-000001", "a", "2") "," HIT(
                             ".ds-ev-000001", "\\\"\\/", "3") "," HIT(".ds-ev-000001", "b", "4")),
                         keys, 4),
                     0);
    ck_assert_uint_eq(a.documents.count, 4);
    ck_assert_int_eq(a.documents.items[0].version, 4);
    ck_assert_int_eq(a.documents.items[1].version, 2);
    ck_assert_int_eq(a.documents.items[2].version, 3);
    ck_assert(!a.documents.items[3].found);
    done(&a);
}
END_TEST

START_TEST(an_answer_that_is_not_a_search_result_is_temporary)
{
    struct asking a;
    const struct span key = span_make("7", 1);
    ck_assert_int_eq(ask(&a, "{\"hits\":{\"hits\":[]}}", &key, 1), ERR_TRANSIENT);
    done(&a);
}
END_TEST

SUITE_MAIN("service/documents", with_one_id_in_several_backing_indices_the_last_counts,
           documents_come_in_the_order_of_the_keys,
           an_answer_that_is_not_a_search_result_is_temporary)
