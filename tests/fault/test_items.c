/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs with item failures in every combination, and services that accept nothing. */
#include "fault.h"
#include "rowferry/base/buf.h"

#define LIMITS "\"in_flight\": 16, \"batch_operations\": %d, \"retry_budget\": \"60s\""

static const int fates[] = {0, 409, 400, 429, 500};

#define FATES (sizeof(fates) / sizeof(fates[0]))

static void clear_faults(const struct world *w)
{
    struct reply reply;
    reply_get(&reply, "DELETE", w->service.url, "/_devsearch/faults", NULL,
              "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 200);
    reply_release(&reply);
}

/* Writes every combination of fates for this number of items. Returns the number of 400s. */
static int64_t script_mixes(struct buf *out, size_t items, size_t *mixes)
{
    int64_t refused = 0;
    *mixes = 1;
    for (size_t i = 0; i < items; i++) {
        *mixes *= FATES;
    }
    buf_push_literal(out, "{\"items\":[");
    for (size_t mix = 0; mix < *mixes; mix++) {
        size_t rest = mix;
        for (size_t i = 0; i < items; i++, rest /= FATES) {
            int fate = fates[rest % FATES];
            buf_printf(out, "%s%d", mix + i > 0 ? "," : "", fate);
            refused += fate == 400;
        }
    }
    buf_push_literal(out, "]}");
    return refused;
}

/* Requests have the size of a combination, so most combinations fall into one request. */
static void every_mix(size_t items)
{
    struct world w;
    struct buf script;
    struct program_result result;
    char limits[128];
    size_t mixes;
    buf_init(&script, 1 << 20);
    int64_t refused = script_mixes(&script, items, &mixes);
    world_start(&w, (long)(mixes * items), NULL);
    snprintf(limits, sizeof(limits), LIMITS, (int)items);
    world_configure(&w, FAULT_PROPERTIES, limits);
    world_install(&w);
    world_fault(&w, buf_text(&script));
    if (refused > 100) { /* more than the guard permits, so they are permitted explicitly */
        world_sync(&w, 1, &result);
        program_result_release(&result);
        clear_faults(&w);
        world_fault(&w, buf_text(&script));
    }
    rowferry_run(&result, w.config, "sync", "--json", "--allow-rejections", NULL);
    ck_assert_msg(result.exit_code == 3, "%d: %s%s", result.exit_code, result.out, result.err);
    int64_t rejected = program_json_int(&result, "rejected");
    int64_t often =
        rejected - refused; /* got 429 and 500 ten times in a row, so they are dead letters too */
    ck_assert_int_ge(often, 0);
    ck_assert_int_lt(often, refused / 20 + 3);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), rejected);
    ck_assert_int_eq(program_json_int(&result, "upserts"), (int64_t)(mixes * items) - rejected);
    /* the script has each of the three statuses equally often, and each is used once */
    ck_assert_int_eq(program_json_int(&result, "retried") + often, 2 * refused);
    ck_assert_int_eq(program_json_int(&result, "conflicts"), refused);
    program_result_release(&result);
    clear_faults(&w);
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_msg(result.exit_code == 0, "%d: %s%s", result.exit_code, result.out, result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    buf_release(&script);
    world_stop(&w);
}

START_TEST(one_item_with_every_fate_is_settled_exactly)
{
    every_mix(1);
}
END_TEST

START_TEST(two_items_with_every_mix_of_fates_are_settled_exactly)
{
    every_mix(2);
}
END_TEST

START_TEST(three_items_with_every_mix_of_fates_are_settled_exactly)
{
    every_mix(3);
}
END_TEST

START_TEST(four_items_with_every_mix_of_fates_are_settled_exactly)
{
    every_mix(4);
}
END_TEST

/* --- failures that no document causes -------------------------------------------------------- */

/* Checks that a sync with this fault ends with 1 and this text and no dead letter, and succeeds
 * without it. */
static void stops(const char *fault, const char *words)
{
    struct world w;
    struct program_result result;
    world_start(&w, 500, NULL);
    world_install(&w);
    world_fault(&w, fault);
    world_sync(&w, 1, &result);
    ck_assert_msg(strstr(result.err, words) != NULL, "no \"%s\": %s", words, result.err);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 0);
    program_result_release(&result);
    clear_faults(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}

START_TEST(a_credential_that_is_withdrawn_stops_without_a_dead_letter)
{
    stops("{\"status\":401}", "401");
}
END_TEST

START_TEST(a_request_that_is_forbidden_stops_without_a_dead_letter)
{
    stops("{\"status\":403}", "403");
}
END_TEST

START_TEST(a_missing_index_stops_without_a_dead_letter)
{
    stops("{\"items_status\":404}", "no longer exists");
}
END_TEST

START_TEST(a_missing_index_among_good_items_stops_without_a_dead_letter)
{
    stops("{\"items\":[0,0,0,404]}", "no longer exists");
}
END_TEST

/* Checks that a sync waits for its retry budget while this fault lasts, ends with 6 and these
 * words and no dead letter, and succeeds without the fault. */
static void is_waited_for(const char *fault, const char *words)
{
    struct world w;
    struct program_result result;
    world_start(&w, 500, NULL);
    world_configure(&w, FAULT_PROPERTIES, "\"retry_budget\": \"1s\"");
    world_install(&w);
    world_fault(&w, fault);
    world_sync(&w, 6, &result);
    expect_text(result.err, "gave up after 1.0s");
    expect_text(result.err, words);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 0);
    program_result_release(&result);
    clear_faults(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}

START_TEST(a_write_block_is_waited_for_and_then_named)
{
    is_waited_for("{\"items_status\":403}", "/_settings with null for this setting removes it");
}
END_TEST

START_TEST(a_service_without_room_is_waited_for_and_then_named)
{
    is_waited_for("{\"items_status\":429}", "429");
}
END_TEST

/* An ingest processor that fails answers like this. */
START_TEST(one_document_answered_with_500_for_ever_is_a_dead_letter_and_stops_nobody)
{
    struct world w;
    struct program_result result;
    world_start(&w, 500, NULL);
    world_install(&w);
    world_fault(&w, "{\"items_status\":500,\"id\":\"77\"}");
    world_sync(&w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 1);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 499);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 0);
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "show", "77", NULL);
    ck_assert_msg(strstr(result.out, "devsearch_fault: a fault that was asked for") != NULL, "%s",
                  result.out);
    program_result_release(&result);
    clear_faults(&w);
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_msg(result.exit_code == 0, "%d: %s%s", result.exit_code, result.out, result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static void is_dead(const struct world *w, const char *key, const char *reason)
{
    struct program_result result;
    rowferry_run(&result, w->config, "deadletter", "show", key, NULL);
    ck_assert_msg(strstr(result.out, reason) != NULL, "%s: %s%s", key, result.out, result.err);
    program_result_release(&result);
}

#define REFUSED(id, status)                                                                        \
    "{\"index\":{\"_id\":\"" id "\",\"status\":" status                                            \
    ",\"error\":{\"type\":\"x\",\"reason\":\"of " id "\"}}}"

/* OpenSearch 2.19.4 answers like this if documents fail in an ingest pipeline. */
START_TEST(refusals_in_another_order_are_of_the_documents_that_they_name)
{
    struct world w;
    struct program_result result;
    world_start(&w, 4, NULL);
    world_install(&w);
    world_fault(
        &w, "{\"status\":200,\"count\":1,\"answer\":{\"items\":[" REFUSED("1", "400") "," REFUSED(
                "4", "400") "," REFUSED("2", "429") "," REFUSED("3", "400") "]}}");
    world_sync(&w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 3);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 1);
    ck_assert_int_eq(program_json_int(&result, "retried"), 1);
    program_result_release(&result);
    is_dead(&w, "1", "x: of 1");
    is_dead(&w, "3", "x: of 3");
    is_dead(&w, "4", "x: of 4");
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_msg(result.exit_code == 0, "%d: %s%s", result.exit_code, result.out, result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("fault/items", refusals_in_another_order_are_of_the_documents_that_they_name,
           one_document_answered_with_500_for_ever_is_a_dead_letter_and_stops_nobody,
           one_item_with_every_fate_is_settled_exactly,
           two_items_with_every_mix_of_fates_are_settled_exactly,
           three_items_with_every_mix_of_fates_are_settled_exactly,
           four_items_with_every_mix_of_fates_are_settled_exactly,
           a_credential_that_is_withdrawn_stops_without_a_dead_letter,
           a_request_that_is_forbidden_stops_without_a_dead_letter,
           a_missing_index_stops_without_a_dead_letter,
           a_missing_index_among_good_items_stops_without_a_dead_letter,
           a_write_block_is_waited_for_and_then_named,
           a_service_without_room_is_waited_for_and_then_named)
