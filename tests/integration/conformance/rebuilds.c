/* SPDX-License-Identifier: Apache-2.0 */
/* Service features that a rebuild needs: parallel generations, and replacing an index by one. */
#include <stdio.h>
#include <string.h>

#include "rowferry/document/mapping/mapdiff.h"
#include "subject.h"

#define ONE_COPY "{\"number_of_replicas\":1,\"index\":{\"refresh_interval\":\"5s\"}}"
#define NO_COPY "{\"number_of_replicas\":0}"

/* Names a generation of an alias with ours as prefix: `<alias>-more`. */
static void name_neighbour(const struct subject *s, char out[128])
{
    snprintf(out, 128, "%s-more-20261121-1", s->alias);
}

START_TEST(a_generation_fills_without_copies_and_gets_them_back)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, ONE_COPY, &s->err));
    say(s, 200, "\"number_of_replicas\":\"0\"", "GET", s->first, "/_settings", NULL);
    OK(index_finish(s->service, s->first, ONE_COPY, &s->err));
    say(s, 200, "\"number_of_replicas\":\"1\"", "GET", s->first, "/_settings", NULL);
    say(s, 200, "\"refresh_interval\":\"5s\"", "GET", s->first, "/_settings", NULL);
    OK(index_finish(s->service, s->first, NULL, &s->err));
    say(s, 200, "\"number_of_replicas\":\"1\"", "GET", s->first, "/_settings", NULL);
    OK(index_create(s->service, s->second, MAPPING, "{\"auto_expand_replicas\":\"0-1\"}", &s->err));
    say(s, 200, "\"auto_expand_replicas\":\"false\"", "GET", s->second, "/_settings", NULL);
    OK(index_finish(s->service, s->second, "{\"auto_expand_replicas\":\"0-1\"}", &s->err));
    say(s, 200, "\"auto_expand_replicas\":\"0-1\"", "GET", s->second, "/_settings", NULL);
    subject_leave(s);
}
END_TEST

START_TEST(an_index_is_ready_when_its_copies_are_there)
{
    struct subject subject;
    struct subject *s = &subject;
    bool green = false;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NO_COPY, &s->err));
    OK(index_finish(s->service, s->first, NO_COPY, &s->err));
    OK(index_ready(s->service, s->first, 2000, &green, &s->err));
    ck_assert(green);
    /* more replicas than any of our clusters has nodes */
    OK(index_finish(s->service, s->first, "{\"number_of_replicas\":7}", &s->err));
    OK(index_ready(s->service, s->first, 100, &green, &s->err));
    ck_assert(!green);
    ck_assert_int_eq(index_ready(s->service, s->second, 100, &green, &s->err), ERR_TRANSIENT);
    ck_assert_msg(strstr(s->err.message, "is red") != NULL, "%s", s->err.message);
    subject_leave(s);
}
END_TEST

START_TEST(only_the_aliass_own_generations_are_listed)
{
    struct subject subject;
    struct subject *s = &subject;
    struct index_info list[4];
    size_t count = 7;
    char name[128];
    subject_enter(s);
    OK(index_list(s->service, s->alias, "articles", list, 4, &count, &s->err));
    ck_assert_uint_eq(count, 0);
    OK(index_create(s->service, s->second, MAPPING, NULL, &s->err));
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    OK(index_create(s->service, s->other, MAPPING, NULL, &s->err));
    name_neighbour(s, name);
    OK(index_create(s->service, name, MAPPING, NULL, &s->err));
    snprintf(name, sizeof(name), "%s-20261121-10", s->alias);
    OK(index_create(s->service, name, MAPPING, NULL, &s->err));
    snprintf(name, sizeof(name), "%s-20261121-3", s->alias);
    OK(index_create(s->service, name, "{\"properties\":{}}", NULL, &s->err));
    say(s, 200, NULL, "POST", s->first, "/_close", NULL);
    OK(index_list(s->service, s->alias, "articles", list, 4, &count, &s->err));
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(list[0].name, s->first);
    ck_assert_str_eq(list[1].name, s->second);
    ck_assert_int_eq(list[2].number, 10);
    ck_assert(list[0].closed);
    ck_assert(!list[1].closed);
    ck_assert_str_ne(list[1].uuid, "");
    OK(index_list(s->service, s->alias, "articles", list, 2, &count, &s->err));
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(list[0].name, s->second);
    OK(index_list(s->service, s->alias, "authors", list, 4, &count, &s->err));
    ck_assert_uint_eq(count, 0);
    subject_leave(s);
}
END_TEST

START_TEST(a_generation_remembers_where_it_was_left)
{
    struct subject subject;
    struct subject *s = &subject;
    struct buf position;
    int64_t clock;
    bool found;
    subject_enter(s);
    buf_init(&position, 4096);
    OK(index_left(s->service, s->first, &position, &clock, &found, &s->err));
    ck_assert(!found);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    OK(index_left(s->service, s->first, &position, &clock, &found, &s->err));
    ck_assert(!found);
    ck_assert_int_eq(index_leave(s->service, s->first, "authors", "x", 1, &s->err), ERR_INTERNAL);
    OK(index_leave(s->service, s->first, "articles", "1:2:\"3\"", INT64_MAX - 1, &s->err));
    OK(index_leave(s->service, s->first, "articles", "4:5:\"6\"", INT64_MAX, &s->err));
    OK(index_left(s->service, s->first, &position, &clock, &found, &s->err));
    ck_assert(found);
    ck_assert_str_eq(buf_text(&position), "4:5:\"6\"");
    ck_assert_int_eq(clock, INT64_MAX);
    say(s, 200, "\"mapping\":\"0011223344556677\"", "GET", s->first, "/_mapping", NULL);
    say(s, 200, "\"dynamic\":\"strict\"", "GET", s->first, "/_mapping", NULL);
    ck_assert_int_eq(index_leave(s->service, s->second, "articles", "x", 1, &s->err), ERR_REJECTED);
    buf_release(&position);
    subject_leave(s);
}
END_TEST

static void write_one(struct subject *s, const char *index, const char *id)
{
    expect_one(s, index, OPERATION_UPSERT, id, 10, OUTCOME_DONE, 0, NULL);
}

static void expect_count(struct subject *s, const char *index, int64_t wanted)
{
    int64_t count;
    OK(index_refresh(s->service, index, &s->err));
    OK(index_count(s->service, index, &count, &s->err));
    ck_assert_msg(count == wanted, "%s has %lld", index, (long long)count);
}

START_TEST(the_name_of_an_index_becomes_an_alias_and_the_index_is_kept)
{
    struct subject subject;
    struct subject *s = &subject;
    enum alias_kind kind;
    struct index_info at;
    bool kept = false;
    subject_enter(s);
    OK(index_create(s->service, s->alias,
                    "{\"_meta\":{\"mine\":7},\"properties\":{\"n\":{\"type\":\"long\"}}}", NO_COPY,
                    &s->err));
    OK(index_create(s->service, s->first, MAPPING, NO_COPY, &s->err));
    write_one(s, s->alias, "a");
    write_one(s, s->alias, "b");
    write_one(s, s->first, "a");
    OK(adopt_swap_alias(s->service, s->alias, s->other, s->first, &kept, &s->err));
    ck_assert(kept);
    OK(index_resolve(s->service, s->alias, &kind, &at, &s->err));
    ck_assert_int_eq(kind, ALIAS_ONE);
    ck_assert_str_eq(at.name, s->first);
    expect_count(s, s->alias, 1);
    expect_count(s, s->other, 2);
    say(s, 200, "\"number_of_replicas\":\"0\"", "GET", s->other, "/_settings", NULL);
    say(s, 200, "\"mine\":7", "GET", s->other, "/_mapping", NULL);
    write_one(s, s->other, "c");
    write_one(s, s->first, "c");
    ck_assert_int_eq(adopt_swap_alias(s->service, s->alias, s->second, s->first, &kept, &s->err),
                     ERR_REJECTED);
    subject_leave(s);
}
END_TEST

START_TEST(an_adoption_that_fails_leaves_the_index_as_it_was)
{
    struct subject subject;
    struct subject *s = &subject;
    struct index_info at;
    bool found;
    bool kept = true;
    subject_enter(s);
    OK(index_create(s->service, s->alias, MAPPING, NO_COPY, &s->err));
    write_one(s, s->alias, "a");
    /* the alias has no index to point at */
    ck_assert_int_eq(adopt_swap_alias(s->service, s->alias, s->other, s->first, &kept, &s->err),
                     ERR_REJECTED);
    ck_assert_msg(strstr(s->err.message, "index_not_found_exception") != NULL, "%s",
                  s->err.message);
    ck_assert(!kept);
    OK(index_look(s->service, s->alias, &found, &at, &s->err));
    ck_assert(found);
    ck_assert(at.write_block == NULL);
    OK(index_look(s->service, s->other, &found, &at, &s->err));
    ck_assert(!found);
    write_one(s, s->alias, "b");
    /* the name is taken */
    OK(index_create(s->service, s->other, MAPPING, NO_COPY, &s->err));
    OK(index_create(s->service, s->first, MAPPING, NO_COPY, &s->err));
    ck_assert_int_eq(adopt_swap_alias(s->service, s->alias, s->other, s->first, &kept, &s->err),
                     ERR_REJECTED);
    write_one(s, s->alias, "c");
    OK(adopt_swap_alias(s->service, s->alias, NULL, s->first, &kept, &s->err));
    ck_assert(!kept);
    expect_count(s, s->alias, 0);
    subject_leave(s);
}
END_TEST

START_TEST(an_adoption_that_was_cut_off_goes_on)
{
    struct subject subject;
    struct subject *s = &subject;
    char rest[160];
    char note[160];
    struct index_info at;
    bool found;
    bool kept = false;
    subject_enter(s);
    OK(index_create(s->service, s->alias, MAPPING, NO_COPY, &s->err));
    OK(index_look(s->service, s->alias, &found, &at, &s->err));
    snprintf(note, sizeof(note), "{\"_meta\":{\"rowferry\":{\"kept\":\"%s\"}}}", at.uuid);
    OK(index_create(s->service, s->first, MAPPING, NO_COPY, &s->err));
    write_one(s, s->alias, "a");
    say(s, 200, NULL, "PUT", s->alias, "/_settings", "{\"index.blocks.write\":true}");
    snprintf(rest, sizeof(rest), "/_clone/%s", s->other);
    say(s, 200, NULL, "POST", s->alias, rest, "{\"settings\":{\"index.blocks.write\":null}}");
    say(s, 200, NULL, "PUT", s->other, "/_mapping", note);
    OK(adopt_swap_alias(s->service, s->alias, s->other, s->first, &kept, &s->err));
    ck_assert(kept);
    expect_count(s, s->other, 1);
    subject_leave(s);
}
END_TEST

START_TEST(an_adoption_that_was_cut_off_is_taken_back)
{
    struct subject subject;
    struct subject *s = &subject;
    char rest[160];
    struct index_info at;
    bool found;
    subject_enter(s);
    OK(index_create(s->service, s->alias, MAPPING, NO_COPY, &s->err));
    OK(index_create(s->service, s->other, MAPPING, NO_COPY, &s->err));
    write_one(s, s->alias, "a");
    OK(adopt_undo_alias(s->service, s->alias, s->other, &s->err));
    OK(index_look(s->service, s->other, &found, &at, &s->err));
    ck_assert(found); /* not ours */
    say(s, 200, NULL, "PUT", s->alias, "/_settings", "{\"index.blocks.write\":true}");
    OK(adopt_undo_alias(s->service, s->alias, s->other, &s->err));
    OK(index_look(s->service, s->other, &found, &at, &s->err));
    ck_assert(found);
    write_one(s, s->alias, "b");
    char note[160];
    OK(index_look(s->service, s->alias, &found, &at, &s->err));
    snprintf(note, sizeof(note), "{\"_meta\":{\"rowferry\":{\"kept\":\"%s\"}}}", at.uuid);
    say(s, 200, NULL, "PUT", s->alias, "/_settings", "{\"index.blocks.write\":true}");
    snprintf(rest, sizeof(rest), "/_clone/%s", s->second);
    say(s, 200, NULL, "POST", s->alias, rest, "{\"settings\":{\"index.blocks.write\":null}}");
    say(s, 200, NULL, "PUT", s->second, "/_mapping", note);
    OK(adopt_undo_alias(s->service, s->alias, s->second, &s->err));
    OK(index_look(s->service, s->second, &found, &at, &s->err));
    ck_assert(!found);
    write_one(s, s->alias, "c");
    subject_leave(s);
}
END_TEST

START_TEST(a_mapping_is_compared_and_extended)
{
    static const char wanted[] =
        "{\"properties\":{\"title\":{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":\"keyword\"}}}"
        ","
        "\"n\":{\"type\":\"long\"},\"author\":{\"properties\":{\"name\":{\"type\":\"text\"}}}}}";
    struct subject subject;
    struct subject *s = &subject;
    struct mapdiff d;
    struct buf live;
    struct buf added;
    subject_enter(s);
    buf_init(&live, 1 << 20);
    buf_init(&added, 1 << 20);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    OK(index_leave(s->service, s->first, "articles", "here", 5, &s->err));
    OK(index_mapping(s->service, s->first, &live, &s->err));
    OK(mapdiff_make(&d, wanted, buf_text(&live), &s->err));
    ck_assert_uint_eq(d.count, 2);
    ck_assert(d.additive);
    mapdiff_additions(&added, &d, wanted);
    mapdiff_release(&d);
    OK(index_extend(s->service, s->first, buf_text(&added), "{\"mapping\":\"8899\"}", &s->err));
    buf_reset(&live);
    OK(index_mapping(s->service, s->first, &live, &s->err));
    OK(mapdiff_make(&d, wanted, buf_text(&live), &s->err));
    ck_assert_msg(d.count == 0, "%s", buf_text(&live));
    mapdiff_release(&d);
    ck_assert_ptr_nonnull(strstr(buf_text(&live), "\"mapping\":\"8899\""));
    ck_assert_ptr_nonnull(strstr(buf_text(&live), "\"position\":\"here\""));
    ck_assert_int_eq(
        index_extend(s->service, s->first, "{\"n\":{\"type\":\"keyword\"}}", NULL, &s->err),
        ERR_REJECTED);
    ck_assert_msg(strstr(s->err.message,
                         "mapper [n] cannot be changed from type [long] to [keyword]") != NULL,
                  "%s", s->err.message);
    OK(index_create(s->service, s->other, "{\"properties\":{}}", NULL, &s->err));
    ck_assert_int_eq(index_extend(s->service, s->other, "{}", NULL, &s->err), ERR_INTERNAL);
    ck_assert_int_eq(index_mapping(s->service, s->second, &live, &s->err), ERR_REJECTED);
    buf_release(&live);
    buf_release(&added);
    subject_leave(s);
}
END_TEST

static void expect_state(struct subject *s, bool closed, bool blocked)
{
    enum alias_kind kind;
    struct index_info at;
    OK(index_resolve(s->service, s->alias, &kind, &at, &s->err));
    ck_assert_int_eq(kind, ALIAS_ONE);
    ck_assert_str_eq(at.name, s->first);
    ck_assert_int_eq(at.closed, closed);
    ck_assert_int_eq(at.write_block != NULL, blocked);
}

START_TEST(a_closed_or_blocked_index_is_noticed)
{
    static const char *const blocks[] = {"write", "read_only", "read_only_allow_delete"};
    struct subject subject;
    struct subject *s = &subject;
    int64_t count;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NO_COPY, &s->err));
    OK(index_swap(s->service, s->alias, NULL, s->first, &s->err));
    expect_state(s, false, false);
    for (size_t i = 0; i < 3; i++) {
        char body[96];
        snprintf(body, sizeof(body), "{\"index.blocks.%s\":true}", blocks[i]);
        say(s, 200, NULL, "PUT", s->first, "/_settings", body);
        expect_state(s, false, true);
        snprintf(body, sizeof(body), "{\"index.blocks.%s\":null}", blocks[i]);
        say(s, 200, NULL, "PUT", s->first, "/_settings", body);
    }
    say(s, 200, "\"closed\":true", "POST", s->first, "/_close", NULL);
    expect_state(s, true, false);
    ck_assert_int_eq(index_count(s->service, s->alias, &count, &s->err), ERR_REJECTED);
    ck_assert_msg(strstr(s->err.message, "index_closed_exception") != NULL, "%s", s->err.message);
    OK(index_leave(s->service, s->first, "articles", "here", 5, &s->err));
    say(s, 200, NULL, "POST", s->first, "/_open", NULL);
    expect_state(s, false, false);
    OK(index_delete(s->service, s->first, "articles", &s->err));
    subject_leave(s);
}
END_TEST

START_TEST(an_index_that_is_read_only_keeps_its_alias_and_itself)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NO_COPY, &s->err));
    OK(index_create(s->service, s->second, MAPPING, NO_COPY, &s->err));
    OK(index_swap(s->service, s->alias, NULL, s->first, &s->err));
    say(s, 200, NULL, "PUT", s->first, "/_settings", "{\"index.blocks.read_only\":true}");
    ck_assert_int_eq(index_leave(s->service, s->first, "articles", "x", 1, &s->err), ERR_REJECTED);
    ck_assert_int_eq(s->err.http_status, 403);
    ck_assert_int_eq(index_swap(s->service, s->alias, s->first, s->second, &s->err), ERR_REJECTED);
    ck_assert_int_eq(index_delete(s->service, s->first, "articles", &s->err), ERR_REJECTED);
    say(s, 200, NULL, "PUT", s->first, "/_settings", "{\"index.blocks.read_only\":null}");
    OK(index_swap(s->service, s->alias, s->first, s->second, &s->err));
    subject_leave(s);
}
END_TEST

TESTS(rebuild_tests, NULL, a_generation_fills_without_copies_and_gets_them_back,
      an_index_is_ready_when_its_copies_are_there, only_the_aliass_own_generations_are_listed,
      a_generation_remembers_where_it_was_left,
      the_name_of_an_index_becomes_an_alias_and_the_index_is_kept,
      an_adoption_that_fails_leaves_the_index_as_it_was, an_adoption_that_was_cut_off_goes_on,
      an_adoption_that_was_cut_off_is_taken_back, a_mapping_is_compared_and_extended,
      a_closed_or_blocked_index_is_noticed, an_index_that_is_read_only_keeps_its_alias_and_itself)
