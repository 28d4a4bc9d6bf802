/* SPDX-License-Identifier: Apache-2.0 */
/* A folder, a database and a search service for one test. */
#include "server.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rowferry/base/text.h"
#include "sql.h"
#include "wait.h"

static char *joined(const char *a, const char *between, const char *b)
{
    char *text = NULL;
    ck_assert_int_ge(asprintf(&text, "%s%s%s", a, between, b), 0);
    return text;
}

char *scratch_new(void)
{
    const char *parent = getenv("TMPDIR");
    char *dir = joined(parent != NULL ? parent : "/tmp", "/", "rowferry-test.XXXXXX");
    ck_assert_msg(mkdtemp(dir) != NULL, "no folder \"%s\": %s", dir, strerror(errno));
    return dir;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void scratch_remove(char *dir)
{
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(dir);
}

char *scratch_path(const char *dir, const char *name)
{
    return joined(dir, "/", name);
}

char *scratch_write(const char *dir, const char *name, const char *text)
{
    char *path = scratch_path(dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_msg(fd >= 0, "no file \"%s\": %s", path, strerror(errno));
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static const char *server_uri(void)
{
    const char *uri = getenv("ROWFERRY_TEST_PG");
    ck_assert_msg(uri != NULL, "$ROWFERRY_TEST_PG names no server; run this test through ctest");
    return uri;
}

char *database_new(void)
{
    return database_new_with("");
}

char *database_new_with(const char *words)
{
    static unsigned count;
    char name[64];
    /* process ids repeat in a long run */
    snprintf(name, sizeof(name), "test_%d_%llx_%u", (int)getpid(), (unsigned long long)time(NULL),
             count++);
    PGconn *conn = sql_open(server_uri());
    sql_exec(conn, "create database %s template template0 %s", name, words);
    PQfinish(conn);
    const char *uri = server_uri();
    const char *slash = strrchr(uri, '/');
    char *server = text_copy_span(span_make(uri, (size_t)(slash - uri)));
    char *own = joined(server, "/", name);
    free(server);
    return own;
}

void database_drop(char *uri)
{
    PGconn *conn = sql_open(server_uri());
    sql_exec(conn, "drop database \"%s\"%s", strrchr(uri, '/') + 1,
             PQserverVersion(conn) >= 130000 ? " with (force)" : "");
    PQfinish(conn);
    free(uri);
}

bool server_has(int version)
{
    PGconn *conn = sql_open(server_uri());
    bool has = PQserverVersion(conn) >= version;
    PQfinish(conn);
    return has;
}

char *uri_as(const char *uri, const char *user)
{
    const char *at = strchr(uri, '@');
    ck_assert_ptr_nonnull(at);
    char *head = joined("postgresql://", user, "");
    char *whole = joined(head, "", at);
    free(head);
    return whole;
}

/* A socket that is bound but not listening keeps the system from giving the port to another
 * process. A server that sets SO_REUSEADDR can still use the port. The socket is closed when the
 * test ends. */
int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

/* Returns the port that the program wrote when it was ready, or 0 before. */
static int written_port(const char *path)
{
    int port = 0;
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fscanf(file, "%d", &port) != 1) {
            port = 0;
        }
        fclose(file);
    }
    return port;
}

void devsearch_start_at(struct devsearch *service, int port, const char *const *options)
{
    char listen[64];
    char *dir = scratch_new();
    char *port_file = scratch_path(dir, "port");
    const char *argv[32] = {getenv("DEVSEARCH_PROGRAM"), "--listen", listen, "--port-file",
                            port_file};
    ck_assert_msg(argv[0] != NULL, "$DEVSEARCH_PROGRAM names no program");
    snprintf(listen, sizeof(listen), "127.0.0.1:%d", port);
    for (size_t i = 5; options != NULL && *options != NULL && i < 31; i++) {
        argv[i] = *options++;
    }
    program_start(&service->program, argv, NULL);
    struct deadline deadline = deadline_after(WAIT_MS);
    while ((service->port = written_port(port_file)) == 0) {
        ck_assert_msg(program_running(&service->program) && deadline_wait(&deadline),
                      "devsearch did not start");
    }
    snprintf(service->url, sizeof(service->url), "http://127.0.0.1:%d", service->port);
    free(port_file);
    scratch_remove(dir);
}

void devsearch_start(struct devsearch *service, const char *const *options)
{
    devsearch_start_at(service, free_port(), options);
}

void devsearch_stop(struct devsearch *service)
{
    struct program_result result;
    program_signal(&service->program, SIGTERM);
    program_finish(&service->program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "devsearch ended with %d: %s", result.exit_code,
                  result.err);
    program_result_release(&result);
}
