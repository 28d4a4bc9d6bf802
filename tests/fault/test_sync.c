/* SPDX-License-Identifier: Apache-2.0 */
/* Syncs over a network that cuts, falsifies, stalls and fails: the index is equal at the end. */
#include "fault.h"

#define LIMITS                                                                                     \
    "\"batch_operations\": 20, \"in_flight\": 4, \"request_timeout\": \"1s\", "                    \
    "\"retry_budget\": \"60s\""

/* LIMITS without a short timeout: a delayed request must not be sent again. */
#define PATIENT "\"batch_operations\": 20, \"in_flight\": 4, \"retry_budget\": \"60s\""

static void synced(struct fault_world *f, struct program_result *result)
{
    world_sync(&f->w, 0, result);
    ck_assert_int_eq(program_json_int(result, "rejected"), 0);
    world_expect_equal(&f->w);
    expect_little_memory();
}

/* Cuts every second request: in its head, in its body, after it, or in the answer. */
static void cut_somewhere(void *context, const struct proxy_request *r, struct proxy_fault *fault)
{
    (void)context;
    size_t n = r->number / 2;
    if (!r->bulk || r->number % 2 != 0 || n >= 120) {
        return;
    }
    fault->reset = n % 3 == 0;
    if (n % 2 == 0) {
        fault->cut_request = n / 2 * (r->head_len + r->body_len) / 60;
    } else {
        fault->cut_answer = n * n / 16;
    }
}

START_TEST(connections_that_are_cut_anywhere_lose_nothing)
{
    struct fault_world f;
    struct program_result result;
    fault_world(&f, 6000, LIMITS, cut_somewhere, NULL);
    synced(&f, &result);
    ck_assert_int_ge((int64_t)proxy_bulks(f.proxy), 300);
    ck_assert_int_ge(program_json_int(&result, "retried"), 1000);
    program_result_release(&result);
    fault_world_stop(&f);
}
END_TEST

#define HEAD(status, more) "HTTP/1.1 " status "\r\nContent-Type: application/json\r\n" more "\r\n"
#define GOOD "{\"index\":{\"status\":201}}"

static const struct lie {
    const char *answer, *endless;
} lies[] = {
    {HEAD("200 OK", "Content-Length: 0\r\n"), NULL},
    {HEAD("200 OK", "Connection: close\r\n") "{\"errors\":false,\"items\":[" GOOD "]}", NULL},
    {HEAD("200 OK", "Connection: close\r\n") "{\"errors\":false,\"items\":[", GOOD ","},
    {HEAD("200 OK", "Connection: close\r\n") "{\"took\":", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["},
    {HEAD("502 Bad Gateway", "Connection: close\r\n") "<html>bad gateway</html>", NULL},
    {HEAD("503 Unavailable", "Connection: close\r\n"), "without an end"},
    {HEAD("200 OK", "Transfer-Encoding: chunked\r\n") "fff\r\n{\"errors\":false", NULL},
    {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"},
    {"HTTP/1.1 200 OK\r\n", "X-Flood: 0123456789012345678901234567890123456789\r\n"},
    {"\x16\x03\x01 no HTTP at all", NULL},
};

static void lie_in_turn(void *context, const struct proxy_request *r, struct proxy_fault *fault)
{
    const bool *withheld = context;
    if (!r->bulk || r->number % 2 != 0 || r->number >= 20) {
        return;
    }
    const struct lie *lie = &lies[r->number / 2 % (sizeof(lies) / sizeof(lies[0]))];
    fault->withheld = *withheld;
    fault->answer = lie->answer;
    fault->answer_len = strlen(lie->answer);
    fault->endless = lie->endless;
    fault->close = true;
}

static void lied_to(bool withheld)
{
    struct fault_world f;
    struct program_result result;
    fault_world(&f, 2000, LIMITS, lie_in_turn, &withheld);
    synced(&f, &result);
    ck_assert_int_ge((int64_t)proxy_bulks(f.proxy), 110);
    program_result_release(&result);
    fault_world_stop(&f);
}

START_TEST(lies_about_requests_that_never_arrived_lose_nothing)
{
    lied_to(true);
}
END_TEST

START_TEST(lies_about_requests_that_were_carried_out_lose_nothing)
{
    lied_to(false);
}
END_TEST

static int64_t documents(const struct world *w)
{
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, "ApiKey " WORLD_API_KEY);
    int64_t n = json_object_get_int64(json_object_object_get(stats, "documents"));
    json_object_put(stats);
    return n;
}

static void await_documents(const struct world *w, int64_t least)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (documents(w) < least) {
        ck_assert(deadline_wait(&deadline));
    }
}

static void let_pass_ms(int64_t ms)
{
    struct deadline deadline = deadline_after(ms);
    while (deadline_wait(&deadline)) {
    }
}

#define LET_THROUGH 60

/* Drops everything from this request on, so the sync cannot end before the outage does. */
static void let_some_through(void *context, const struct proxy_request *r,
                             struct proxy_fault *fault)
{
    const _Atomic bool *over = context;
    if (r->bulk && r->number >= LET_THROUGH && !*over) {
        fault->withheld = true;
        fault->reset = true;
        fault->cut_answer = 0;
    }
}

START_TEST(a_service_that_nobody_can_reach_is_waited_for)
{
    struct fault_world f;
    struct program program;
    struct program_result result;
    _Atomic bool over = false;
    fault_world(&f, 3000, PATIENT, let_some_through, &over);
    rowferry_start(&program, f.w.config, "sync", "--json", NULL);
    await_documents(&f.w, 1000);
    proxy_down(f.proxy);
    sql_exec(f.w.conn, "update articles set title = 'meanwhile' where source_id %% 100 = 0");
    let_pass_ms(outage_ms());
    ck_assert_msg(program_running(&program), "it ended during the outage");
    over = true;
    proxy_up(f.proxy);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 0);
    world_expect_equal(&f.w);
    program_result_release(&result);
    fault_world_stop(&f);
}
END_TEST

/* --- a storm of 429 --------------------------------------------------------------------------- */

#define STORM_IN_FLIGHT 8

#define STORM_BEGINS 40 /* number of the first affected request */

struct storm {
    _Atomic bool over;
    _Atomic size_t refused;
    _Atomic int64_t began_ms;
};

static void refuse_in_storm(void *context, const struct proxy_request *r, struct proxy_fault *fault)
{
    static const char refusal[] =
        "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\n"
        "Content-Length: 54\r\n\r\n"
        "{\"error\":{\"type\":\"es_rejected_execution_exception\"}}  ";
    struct storm *storm = context;
    fault->delay_ms = r->bulk ? 5 : 0;
    if (r->bulk && r->number >= STORM_BEGINS && !storm->over) {
        storm->began_ms = storm->refused == 0 ? deadline_now_ms() : storm->began_ms;
        storm->refused++;
        fault->withheld = true;
        fault->answer = refusal;
        fault->answer_len = sizeof(refusal) - 1;
    }
}

START_TEST(a_storm_of_429_meets_few_requests_and_loses_nothing)
{
    struct fault_world f;
    struct program program;
    struct program_result result;
    struct storm storm = {false, 0, 0};
    fault_world(&f, 8000, "\"batch_operations\": 50, \"in_flight\": 8, \"retry_budget\": \"120s\"",
                refuse_in_storm, &storm);
    rowferry_start(&program, f.w.config, "sync", "--json", NULL);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (storm.refused == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    let_pass_ms(outage_ms());
    storm.over = true;
    size_t refused = storm.refused;
    int64_t lasted_ms = deadline_now_ms() - storm.began_ms;
    program_finish(&program, 120000, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 0);
    world_expect_equal(&f.w);
    ck_assert_uint_le(proxy_bulks_at_once(f.proxy), STORM_IN_FLIGHT);
    ck_assert_uint_ge(proxy_bulks_at_once(f.proxy), 2);
    /* batches back off: a few requests in the first second, then one in several seconds */
    ck_assert_msg(refused <= 60 + 5 * (size_t)lasted_ms / 1000, "%zu requests in the storm",
                  refused);
    printf("storm of %lld ms: %zu requests, %zu at once at most\n", (long long)lasted_ms, refused,
           proxy_bulks_at_once(f.proxy));
    program_result_release(&result);
    fault_world_stop(&f);
}
END_TEST

/* --- a proxy that resets large requests ------------------------------------------------------ */

#define PROXY_TAKES_BYTES 40000

static void reset_large(void *context, const struct proxy_request *r, struct proxy_fault *fault)
{
    (void)context;
    if (r->bulk && r->body_len > PROXY_TAKES_BYTES) {
        fault->cut_request = r->head_len + 1000;
        fault->withheld = true;
        fault->reset = true;
    }
}

START_TEST(a_document_whose_upload_is_always_reset_is_a_dead_letter_and_the_rest_arrives)
{
    struct fault_world f;
    struct program_result result;
    fault_world(&f, 1000, "\"batch_operations\": 300, \"in_flight\": 2, \"retry_budget\": \"60s\"",
                reset_large, NULL);
    sql_exec(f.w.conn, "update articles set title = (select string_agg(md5(i::text), ' ') from "
                       "generate_series(1, 12000) i) where source_id in (3, 500, 999)");
    world_sync(&f.w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 3);
    program_result_release(&result);
    sql_exec(f.w.conn, "delete from articles where source_id in (3, 500, 999)");
    world_expect_equal(&f.w);
    rowferry_run(&result, f.w.config, "deadletter", "list", NULL);
    ck_assert_msg(strstr(result.out, "the connection was reset each time it was sent") != NULL,
                  "%s", result.out);
    program_result_release(&result);
    fault_world_stop(&f);
}
END_TEST

struct outage {
    _Atomic bool on;
};

static void reset_all(void *context, const struct proxy_request *r, struct proxy_fault *fault)
{
    const struct outage *outage = context;
    fault->delay_ms = r->bulk ? 4 : 0;
    if (outage->on) {
        fault->cut_request = r->head_len + r->body_len / 2;
        fault->withheld = true;
        fault->reset = true;
    }
}

static void reset_for_a_while(const char *limits, int rows)
{
    struct fault_world f;
    struct program program;
    struct program_result result;
    struct outage outage = {false};
    fault_world(&f, rows, limits, reset_all, &outage);
    rowferry_start(&program, f.w.config, "sync", "--json", NULL);
    for (int i = 1; i <= 3; i++) {
        await_documents(&f.w, rows / 6 * i);
        outage.on = true;
        let_pass_ms(outage_ms() / 3);
        outage.on = false;
    }
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 0);
    world_expect_equal(&f.w);
    program_result_release(&result);
    fault_world_stop(&f);
}

START_TEST(a_network_that_resets_everything_for_a_while_makes_no_dead_letter)
{
    reset_for_a_while(LIMITS, 3000);
}
END_TEST

START_TEST(documents_sent_alone_through_such_a_network_are_no_dead_letters)
{
    reset_for_a_while("\"batch_operations\": 1, \"in_flight\": 8, \"retry_budget\": \"60s\"", 600);
}
END_TEST

/* Waits until the statement waits for the table lock, or is done without it. */
static void await_lock(const struct world *w, PGconn *other)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (PQisBusy(w->conn) &&
           sql_int(other, "select count(*) from pg_locks where not granted and relation = "
                          "'articles'::regclass") == 0) {
        ck_assert(deadline_wait(&deadline) && PQconsumeInput(w->conn) == 1);
    }
}

/* Runs an ALTER TABLE and another statement behind it while the service accepts nothing. Both must
 * finish before the service is back. */
static void change_and_read(const struct world *w)
{
    PGconn *reader = sql_open(w->uri);
    sql_exec(w->conn, "set lock_timeout = '30s'");
    sql_exec(reader, "set lock_timeout = '30s'");
    ck_assert_int_eq(PQsendQuery(w->conn, "alter table articles add column later integer"), 1);
    await_lock(w, reader);
    ck_assert_int_eq(sql_int(reader, "select count(*) from articles"), 8000);
    PGresult *altered = PQgetResult(w->conn);
    ck_assert_msg(PQresultStatus(altered) == PGRES_COMMAND_OK, "%s", PQerrorMessage(w->conn));
    PQclear(altered);
    ck_assert_ptr_null(PQgetResult(w->conn));
    PQfinish(reader);
}

/* source: like world.source. */
static void changed_beside_a_hang(const char *source, struct world *w)
{
    struct program p;
    struct program_result result;
    w->source = source;
    world_configure(w, FAULT_PROPERTIES, SMALL_WINDOW);
    world_install(w);
    world_hold_all(w, "_bulk");
    rowferry_start(&p, w->config, "sync", "--json", NULL);
    world_await_held(w);
    change_and_read(w);
    sql_exec(w->conn, "update articles set title = 'meanwhile' where source_id %% 100 = 0");
    world_unfault(w);
    program_finish(&p, RUN_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    ck_assert_msg(strstr(result.err, "event=page_given_up") != NULL, "%s", result.err);
    program_result_release(&result);
    world_expect_equal(w);
    world_stop(w);
}

/* The initial load's transaction holds a lock on the table. An ALTER TABLE would wait for it, and
 * every later statement behind that one. */
START_TEST(a_service_that_hangs_keeps_nobody_from_changing_the_table)
{
    struct world w;
    world_start(&w, 8000, NULL);
    changed_beside_a_hang(NULL, &w);
}
END_TEST

/* On a Unix socket no tcp_user_timeout ends the wait. */
START_TEST(a_service_that_hangs_keeps_nobody_from_changing_the_table_over_a_unix_socket)
{
    struct world w;
    char source[512];
    world_start(&w, 8000, NULL);
    char *folder = sql_text(w.conn, "show unix_socket_directories");
    snprintf(source, sizeof(source), "\"uri\": \"postgresql://%s@/%s?host=%s&port=%s\"",
             PQuser(w.conn), PQdb(w.conn), folder, PQport(w.conn));
    ck_assert_msg(folder[0] == '/', "the server of the tests has no socket");
    changed_beside_a_hang(source, &w);
    free(folder);
}
END_TEST

SUITE_MAIN("fault/sync", a_service_that_hangs_keeps_nobody_from_changing_the_table,
           a_service_that_hangs_keeps_nobody_from_changing_the_table_over_a_unix_socket,
           connections_that_are_cut_anywhere_lose_nothing,
           lies_about_requests_that_never_arrived_lose_nothing,
           lies_about_requests_that_were_carried_out_lose_nothing,
           a_service_that_nobody_can_reach_is_waited_for,
           a_storm_of_429_meets_few_requests_and_loses_nothing,
           a_document_whose_upload_is_always_reset_is_a_dead_letter_and_the_rest_arrives,
           a_network_that_resets_everything_for_a_while_makes_no_dead_letter,
           documents_sent_alone_through_such_a_network_are_no_dead_letters)
