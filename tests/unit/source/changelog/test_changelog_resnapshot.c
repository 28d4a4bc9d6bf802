/* SPDX-License-Identifier: Apache-2.0 */
/* Whether reading can continue at a position, as the consumer's row in the source says. */
#include "changelog/changelog_position.h"

#include <string.h>

#include "rowferry/base/text.h"
#include "suite.h"

struct fixture {
    struct changelog_position position;
    struct catalogue catalogue;
    struct changelog_options options;
};

static void parse(struct position *p, const char *text)
{
    struct err err = {0};
    ck_assert_msg(position_parse(p, text, &err) == 0, "%s", err.message);
}

/* The state of a server at transaction 100 in its first life, and a position that agrees. */
static struct fixture healthy(const char *at)
{
    struct fixture f = {.options = {.consumer = "one"}};
    struct consumer *k = &f.catalogue.consumer;
    k->known = true;
    k->server.timeline = 1;
    k->since = 5;
    k->server.database = 7;
    k->server.life = 3;
    k->server.next = 100;
    k->horizon = 20;
    parse(&k->mirror, "log 40:40:");
    parse(&f.position.at, at);
    return f;
}

static void must_continue(struct fixture *f, const char *reason)
{
    f->catalogue.options = &f->options;
    bool needed = changelog_resnapshot_needed(&f->position, &f->catalogue, false);
    ck_assert_msg(needed == (reason != NULL), "%s", f->position.reason);
    ck_assert_msg(reason == NULL || strstr(f->position.reason, reason) != NULL, "%s",
                  f->position.reason);
    position_release(&f->position.at);
    position_release(&f->catalogue.consumer.mirror);
}

#define AGREES " on 1 since 5 in 6 of 7 at 3"

START_TEST(reading_continues_at_a_position_of_the_same_history)
{
    struct fixture f = healthy("log 50:50:" AGREES);
    must_continue(&f, NULL);
    f = healthy("copy 1 2/3 from 50:50:" AGREES);
    must_continue(&f, NULL);
    f = healthy("log 50:50:"); /* of a version that did not record its history */
    must_continue(&f, NULL);
}
END_TEST

START_TEST(another_timeline_database_or_an_earlier_server_needs_a_resnapshot)
{
    struct fixture f = healthy("log 50:50: on 2 since 5 in 6 of 7 at 3");
    must_continue(&f, "timeline");
    f = healthy("log 50:50: on 1 since 5 in 6 of 8 at 3");
    must_continue(&f, "replaced by a copy");
    f = healthy("log 101:101:" AGREES);
    must_continue(&f, "restored, or lost some");
}
END_TEST

START_TEST(without_a_timeline_all_else_is_still_compared)
{
    struct fixture f = healthy("log 50:50: on 0 since 5 in 6 of 7 at 3");
    must_continue(&f, NULL);
    f = healthy("log 50:50:" AGREES);
    f.catalogue.consumer.server.timeline = 0;
    must_continue(&f, NULL);
    f = healthy("log 50:50: on 0 since 4 in 6 of 7 at 3");
    must_continue(&f, "older than");
    f = healthy("log 50:50: on 0 since 5 in 6 of 8 at 3");
    must_continue(&f, "replaced by a copy");
    f = healthy("log 101:101: on 0 since 5 in 6 of 7 at 3");
    must_continue(&f, "restored, or lost some");
}
END_TEST

START_TEST(pruned_entries_and_an_unknown_consumer_need_a_resnapshot)
{
    struct fixture f = healthy("log 19:19:" AGREES);
    must_continue(&f, "pruned up to transaction 20");
    f = healthy("log 50:50:" AGREES);
    f.catalogue.consumer.known = false;
    must_continue(&f, "does not know the consumer");
    f = healthy("log 50:50: on 1 since 4 in 6 of 7 at 3");
    must_continue(&f, "older than");
}
END_TEST

START_TEST(after_a_restart_of_the_server_the_log_is_read_from_the_backup_on)
{
    struct fixture f = healthy("log 50:50: on 1 again since 5 in 6 of 7 at 2");
    f.catalogue.options = &f.options;
    ck_assert(!changelog_resnapshot_needed(&f.position, &f.catalogue, false));
    ck_assert_str_eq(f.position.at.last, "40:40:");
    ck_assert(f.position.at.again);
    ck_assert_uint_eq(f.position.at.since, 5);
    ck_assert_uint_eq(f.position.at.table, 6);
    position_release(&f.position.at);
    position_release(&f.catalogue.consumer.mirror);
    f = healthy("copy 1 2/3 from 50:50: on 1 since 5 in 6 of 7 at 2");
    f.catalogue.options = &f.options;
    ck_assert(!changelog_resnapshot_needed(&f.position, &f.catalogue, false));
    ck_assert_int_eq(f.position.at.kind, POSITION_BLOCKS);
    ck_assert_str_eq(f.position.at.last, "40:40:");
    position_release(&f.position.at);
    position_release(&f.catalogue.consumer.mirror);
}
END_TEST

START_TEST(a_position_is_reported_with_the_history_of_the_server)
{
    struct table table = {.oid = 6};
    struct fixture f = healthy("log 50:50:");
    struct buf text;
    buf_init(&text, 1024);
    f.catalogue.table = &table;
    f.position.reconcile = RECONCILE_DUE;
    changelog_position_print_history(&f.position, &f.catalogue, &text);
    ck_assert_str_eq(buf_text(&text), " on 1 again since 5 in 6 of 7 at 3");
    buf_release(&text);
    position_release(&f.position.at);
    position_release(&f.catalogue.consumer.mirror);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/changelog_resnapshot");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, reading_continues_at_a_position_of_the_same_history);
    tcase_add_test(tcase, another_timeline_database_or_an_earlier_server_needs_a_resnapshot);
    tcase_add_test(tcase, without_a_timeline_all_else_is_still_compared);
    tcase_add_test(tcase, pruned_entries_and_an_unknown_consumer_need_a_resnapshot);
    tcase_add_test(tcase, after_a_restart_of_the_server_the_log_is_read_from_the_backup_on);
    tcase_add_test(tcase, a_position_is_reported_with_the_history_of_the_server);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
