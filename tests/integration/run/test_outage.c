/* SPDX-License-Identifier: Apache-2.0 */
/* run: restarting servers, rotated secrets, a service manager. */
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cluster.h"
#include "runs.h"

START_TEST(postgres_restarted_as_after_a_crash_is_waited_for)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 2000, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn,
             "set synchronous_commit = on"); /* a crash must not undo changes that were sent */
    sql_exec(w.conn, "update articles set title = 'before'");
    cluster_kill(&own_cluster, SIGQUIT);
    program_await(&p, "event=away pipeline=articles side=source", WAIT_MS);
    cluster_again(&own_cluster);
    PQfinish(w.conn);
    w.conn = sql_open(w.uri);
    set_title(&w, 5, "after");
    await_title(&w, 5, "after");
    world_await_settled(&w);
    stop_run(&p, SIGTERM, 0, &result);
    world_expect_equal(&w);
    expect_once(result.err, "event=away ");
    expect_once(result.err, "event=back pipeline=articles side=source");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_partition_that_joins_is_no_outage)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 50, NULL);
    sql_exec(w.conn,
             "alter table articles rename to low; create table articles (like low including all) "
             "partition by range (source_id);"
             "alter table articles attach partition low for values from (minvalue) to (5000)");
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "create table high (like low including all);"
                     "insert into high (source_id, title) values (5001, 'from high');"
                     "alter table articles attach partition high for values from (5000) to (9000)");
    await_title(&w, 5001, "from high");
    sql_exec(w.conn, "update high set title = 'after' where source_id = 5001");
    await_title(&w, 5001, "after");
    world_await_settled(&w);
    stop_run(&p, SIGTERM, 0, &result);
    world_expect_equal(&w);
    expect_once(result.err, "event=member_joined pipeline=articles message=\"public.high has just");
    ck_assert_msg(strstr(result.err, "event=away") == NULL, "%s", result.err);
    ck_assert_msg(strstr(result.err, "event=back") == NULL, "%s", result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_restarts_is_waited_for)
{
    struct world w;
    struct program p;
    struct program_result result;
    char *data = scratch_new();
    world_start(&w, 500, (const char *const[]){"--data", data, NULL});
    world_install(&w);
    start_run(&w, &p);
    char *key = scratch_path(w.dir, "key");
    int port = w.service.port;
    devsearch_stop(&w.service);
    sql_exec(w.conn, "update articles set title = 'meanwhile'");
    program_await(&p, "event=away pipeline=articles side=service", WAIT_MS);
    devsearch_start_at(&w.service, port,
                       (const char *const[]){"--api-key-file", key, "--data", data, NULL});
    await_title(&w, 500, "meanwhile");
    set_title(&w, 5, "after");
    await_title(&w, 5, "after");
    world_await_settled(&w);
    world_expect_equal(&w);
    stop_run(&p, SIGTERM, 0, &result);
    expect_once(result.err, "event=away ");
    expect_once(result.err, "event=back pipeline=articles side=service");
    program_result_release(&result);
    free(key);
    world_stop(&w);
    scratch_remove(data);
}
END_TEST

/* Configures a role whose password is in the file "password". */
static void configure_reader(struct world *w, const char *limits)
{
    char *text = NULL;
    char *uri = uri_as(w->uri, "run_reader");
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\", \"password\": {\"file\": "
                 "\"%s/password\"}},"
                 "\"service\": {\"url\": \"%s\", \"auth\": {\"api_key\": {\"file\": "
                 "\"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"}, \"limits\": {%s},"
                 "\"pipelines\": [{\"name\": \"articles\", \"from\": {\"table\": "
                 "\"public.articles\"}, \"to\": {\"index\": \"shop-articles\", \"mappings\": "
                 "{\"properties\": {%s}}}}]}",
                 uri, w->dir, w->service.url, w->dir, w->dir, limits, RUNS_PROPERTIES),
        0);
    free(w->config);
    w->config = scratch_write(w->dir, "reader.json", text);
    free(text);
    free(uri);
}

START_TEST(a_rotated_password_is_read_again_at_a_hangup)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    sql_exec(w.conn, "drop role if exists run_reader");
    sql_exec(w.conn, "create role run_reader login password 'canary-old'");
    free(scratch_write(w.dir, "password", "canary-old\n"));
    configure_reader(&w, "");
    rowferry_expect(0, w.config, "source", "install", "--as", w.uri, NULL);
    start_run(&w, &p);
    sql_exec(w.conn, "alter role run_reader password 'canary-new'");
    free(scratch_write(w.dir, "password", "canary-new\n"));
    configure_reader(&w, "\"poll_max\": \"700ms\"");
    program_signal(&p, SIGHUP);
    program_await(&p, "event=configuration_read", WAIT_MS);
    sql_exec(w.conn, "select pg_terminate_backend(pid) from pg_stat_activity "
                     "where usename = 'run_reader'");
    set_title(&w, 5, "rotated");
    await_title(&w, 5, "rotated");
    stop_run(&p, SIGTERM, 0, &result);
    expect_text(result.err, "event=option_changed option=source.password");
    expect_text(result.err, "event=option_changed option=limits.poll_max pipeline=articles");
    ck_assert_ptr_null(strstr(result.err, "needs_restart"));
    ck_assert_ptr_null(strstr(result.err, "canary"));
    program_result_release(&result);
    sql_exec(w.conn, "drop owned by run_reader");
    sql_exec(w.conn, "drop role run_reader");
    world_stop(&w);
}
END_TEST

START_TEST(what_needs_a_restart_is_named_and_a_wrong_file_changes_nothing)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    start_run(&w, &p);
    world_where(&w, "source_id < 50");
    program_signal(&p, SIGHUP);
    program_await(&p, "event=needs_restart option=from.where pipeline=articles", WAIT_MS);
    free(scratch_write(w.dir, "rowferry.json", "{ nonsense"));
    program_signal(&p, SIGHUP);
    program_await(&p, "event=configuration_refused", WAIT_MS);
    set_title(&w, 77, "as before");
    await_title(&w, 77, "as before");
    world_expect_equal(&w);
    stop_run(&p, SIGTERM, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* Polls are an hour apart, so only a notification can deliver the change. */
START_TEST(a_notified_change_does_not_wait_for_the_poll)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_configure(&w, RUNS_PROPERTIES, "\"poll_min\": \"1h\", \"poll_max\": \"1h\"");
    rowferry_expect(0, w.config, "source", "install", "--notify", NULL);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    expect_text(result.out, "is installed, sends NOTIFY");
    program_result_release(&result);
    start_run(&w, &p);
    for (int i = 0; i < 3; i++) {
        char title[16];
        snprintf(title, sizeof(title), "call %d", i);
        set_title(&w, 5 + i, title);
        await_title(&w, 5 + i, title);
    }
    end_run(&p);
    rowferry_expect(0, w.config, "source", "upgrade", NULL);
    rowferry_run(&result, w.config, "source", "print", NULL);
    expect_text(result.out, "installed with --notify");
    program_result_release(&result);
    rowferry_expect(0, w.config, "source", "install", "--no-notify", NULL);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_ptr_null(strstr(result.out, "NOTIFY"));
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", "--json", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* --- the service manager -----------------------------------------------------------------------
 */

static int manager_open(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval retry_budget = {WAIT_MS / 1000, 0};
    size_t len = strlen(path);
    ck_assert(len < sizeof(address.sun_path));
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') {
        address.sun_path[0] = '\0';
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)(const void *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
                     0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &retry_budget, sizeof(retry_budget)),
                     0);
    return fd;
}

/* Waits for a message with the text. */
static void manager_await(int fd, const char *text)
{
    char message[4096];
    for (;;) {
        ssize_t len = recv(fd, message, sizeof(message) - 1, 0);
        if (len < 0 && errno == EINTR) { /* stopped and continued */
            continue;
        }
        ck_assert_msg(len > 0, "the manager never heard \"%s\"", text);
        message[len] = '\0';
        if (strstr(message, text) != NULL) {
            return;
        }
    }
}

static void managed(const char *path)
{
    struct world w;
    struct program p;
    struct program_result result;
    char variable[256];
    world_start(&w, 100, NULL);
    world_install(&w);
    int fd = manager_open(path);
    snprintf(variable, sizeof(variable), "NOTIFY_SOCKET=%s", path);
    const char *const argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w.config, "run", NULL};
    /* twice a second: a queue may hold ten, and the sender does not wait for a reader */
    const char *const env[] = {variable, "WATCHDOG_USEC=1000000", NULL};
    program_start(&p, argv, env);
    manager_await(fd, "READY=1");
    manager_await(fd, "STATUS=articles following");
    manager_await(fd, "WATCHDOG=1");
    manager_await(fd, "WATCHDOG=1");
    program_signal(&p, SIGHUP);
    manager_await(fd, "RELOADING=1");
    manager_await(fd, "READY=1");
    program_signal(&p, SIGTERM);
    manager_await(fd, "STOPPING=1");
    program_finish(&p, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    close(fd);
    world_stop(&w);
}

START_TEST(a_service_manager_hears_how_it_stands)
{
    char *dir = scratch_new();
    char *path = scratch_path(dir, "notify");
    managed(path);
    free(path);
    scratch_remove(dir);
}
END_TEST

START_TEST(a_service_manager_may_listen_at_an_abstract_socket)
{
    char path[64];
    snprintf(path, sizeof(path), "@rowferry-test-%d", (int)getpid());
    managed(path);
}
END_TEST

CLUSTER_MAIN("run/outage", postgres_restarted_as_after_a_crash_is_waited_for,
             a_partition_that_joins_is_no_outage, a_service_that_restarts_is_waited_for,
             a_rotated_password_is_read_again_at_a_hangup,
             what_needs_a_restart_is_named_and_a_wrong_file_changes_nothing,
             a_notified_change_does_not_wait_for_the_poll, a_service_manager_hears_how_it_stands,
             a_service_manager_may_listen_at_an_abstract_socket)
