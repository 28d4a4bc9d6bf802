/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server of a run, reached over a real connection. */
#include "rowferry/daemon/worker/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "workplace.h"

#define SILENT_MOST_MS 60000

struct served {
    struct workplace place;
    struct settings_reload settings;
    struct pipeline_worker worker;
    struct listener listener;
    char answer[4096];
};

static void describe(struct buf *out, const struct config *config,
                     const struct pipeline_config *pipeline,
                     const struct status_snapshot_view *view)
{
    (void)config;
    buf_printf(out, "{\"pipeline\":\"%s\",\"stage\":\"%s\"}", pipeline->name, view->stage);
}

static void serve_begin(struct served *s, const char *listen)
{
    struct err err;
    sigset_t all;
    *s = (struct served){.place = workplace_make(listen, "")};
    log_configure(LOG_ERROR, LOG_TEXT);
    settings_reload_init(&s->settings, s->place.config);
    OK(pipeline_worker_init(&s->worker, PIPELINE_WORKER_ENDS_IF_HELD, "articles", "run",
                            &s->settings, &err));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    OK(listener_start(&s->listener, s->place.config, &s->worker, 1, describe, SILENT_MOST_MS,
                      &err));
}

static void serve_end(struct served *s)
{
    listener_stop(&s->listener);
    pipeline_worker_release(&s->worker);
    settings_reload_release(&s->settings);
    workplace_remove(&s->place);
}

/* Sends a request and returns the whole answer. */
static const char *get(struct served *s, const char *path)
{
    char request[128];
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t len = 0;
    ssize_t got = 1;
    const char *port = strrchr(serve_address(s->listener.serve), ':') + 1;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)),
                     0);
    int asked = snprintf(request, sizeof(request),
                         "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    ck_assert_int_eq(send(fd, request, (size_t)asked, 0), asked);
    while (got > 0) {
        got = recv(fd, s->answer + len, sizeof(s->answer) - 1 - len, 0);
        ck_assert_int_ge(got, 0);
        len += (size_t)got;
    }
    s->answer[len] = '\0';
    close(fd);
    return s->answer;
}

START_TEST(nothing_is_served_unless_listen_is_set)
{
    struct served s;
    serve_begin(&s, "");
    ck_assert_ptr_null(s.listener.serve);
    serve_end(&s);
}
END_TEST

START_TEST(the_status_of_each_pipeline_is_described)
{
    struct served s;
    serve_begin(&s, "\"listen\": \"127.0.0.1:0\",");
    ck_assert_ptr_nonnull(
        strstr(get(&s, "/status"), "{\"pipeline\":\"articles\",\"stage\":\"starting\"}"));
    serve_end(&s);
}
END_TEST

START_TEST(a_worker_without_a_heartbeat_is_reported)
{
    struct served s;
    serve_begin(&s, "\"listen\": \"127.0.0.1:0\",");
    ck_assert_ptr_nonnull(strstr(get(&s, "/healthz"), " 200 "));
    __atomic_sub_fetch(&s.worker.shared.alive_us, INT64_C(1000) * 2 * SILENT_MOST_MS,
                       __ATOMIC_RELAXED);
    ck_assert_ptr_nonnull(strstr(get(&s, "/healthz"), " 503 "));
    serve_end(&s);
}
END_TEST

SUITE_MAIN("daemon/listener", nothing_is_served_unless_listen_is_set,
           the_status_of_each_pipeline_is_described, a_worker_without_a_heartbeat_is_reported)
