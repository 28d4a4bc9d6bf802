/* SPDX-License-Identifier: Apache-2.0 */
/* devsearch: a small stand-in search service for laptops and tests. */
#include "auth.h"
#include "http.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int complain(const struct err *err)
{
    fprintf(stderr, "devsearch: %s\n", err->message);
    return (int)err_exit_code(err->class);
}

static int write_port(const char *path, int port, struct err *err)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return err_set(err, ERR_CONFIG, "could not write \"%s\": %s", path, strerror(errno));
    }
    fprintf(file, "%d\n", port);
    return fclose(file) == 0 ? 0 : err_set(err, ERR_CONFIG, "could not write \"%s\"", path);
}

/* Serves until a termination signal. */
static int serve(struct server *s, const sigset_t *signals, struct err *err)
{
    const struct options *o = s->options;
    int ended;
    struct http *h = http_start(s, err);
    if (h == NULL) {
        return (int)err->class;
    }
    if (o->port_file != NULL && write_port(o->port_file, http_port(h), err) != 0) {
        http_stop(h);
        return (int)err->class;
    }
    printf("devsearch listening on %s://%s:%d (a stand-in for a laptop; data in %s)\n",
           o->tls_cert != NULL ? "https" : "http", o->host, http_port(h),
           o->data != NULL ? o->data : "memory");
    fflush(stdout);
    if (!auth_wanted(o)) {
        fputs("devsearch: no credential is set: every user of this machine may read and change "
              "what it holds (see --api-key-file and --user)\n",
              stderr);
    }
    sigwait(signals, &ended);
    http_stop(h);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err = {0};
    sigset_t signals;
    struct server server;
    setlocale(LC_CTYPE, "C.UTF-8");
    if (options_parse(&options, argc, argv, &err) != 0) {
        options_release(&options);
        return complain(&err);
    }
    if (options.help || options.version) {
        fputs(options.help ? options_help() : "devsearch " ROWFERRY_VERSION "\n", stdout);
        options_release(&options);
        return 0;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    server_init(&server, &options);
    int rc = server_open(&server, &err);
    rc = rc == 0 ? serve(&server, &signals, &err) : rc;
    server_release(&server);
    options_release(&options);
    return rc == 0 ? 0 : complain(&err);
}
