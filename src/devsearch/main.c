/* SPDX-License-Identifier: Apache-2.0 */
/* devsearch: a small stand-in search service for laptops and tests. */
#include "http.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int complain(const struct err *err)
{
    fprintf(stderr, "devsearch: %s\n", err->message);
    return (int)err_exit_code(err->class);
}

static int open_store(struct server *s, struct err *err)
{
    struct refusal refusal;
    struct buf path;
    const char *data = s->options->data;
    refusal_init(&refusal);
    buf_init(&path, 8192);
    if (data != NULL && mkdir(data, 0700) != 0 && errno != EEXIST) {
        err_set(err, ERR_CONFIG, "could not create \"%s\": %s", data, strerror(errno));
        goto done;
    }
    buf_printf(&path, "%s/devsearch.db", data != NULL ? data : "");
    s->store = store_open(data != NULL ? buf_text(&path) : NULL, &refusal);
    if (s->store == NULL ||
        catalogue_open(&s->catalogue, s->store, s->options->product, &refusal) != 0) {
        err_set(err, ERR_STATE, "could not open the documents: %s", buf_text(&refusal.reason));
    }
done:
    refusal_release(&refusal);
    buf_release(&path);
    return (int)err->class;
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

/* Serves until a signal to end comes. */
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
    sigwait(signals, &ended);
    http_stop(h);
    return 0;
}

static void release(struct server *s)
{
    for (size_t i = 0; i < s->pit_count; i++) {
        free(s->pits[i].id);
        free(s->pits[i].numbers);
        free(s->pits[i].refreshes);
    }
    free(s->pits);
    faults_release(&s->faults);
    catalogue_close(&s->catalogue);
    store_close(s->store);
    free(s->cluster_uuid);
    pthread_mutex_destroy(&s->lock);
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err = {0};
    sigset_t signals;
    struct server server = {.options = &options, .clock = clock_system()};
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
    pthread_mutex_init(&server.lock, NULL);
    faults_init(&server.faults);
    server.cluster_uuid = random_name(&server.clock);
    int rc = open_store(&server, &err);
    rc = rc == 0 ? serve(&server, &signals, &err) : rc;
    release(&server);
    options_release(&options);
    return rc == 0 ? 0 : complain(&err);
}
