/* SPDX-License-Identifier: Apache-2.0 */
/* Initialises, opens and releases the server's state. */
#include "api/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void server_init(struct server *s, const struct options *options)
{
    *s = (struct server){.options = options, .clock = clock_system()};
    pthread_mutex_init(&s->lock, NULL);
    faults_init(&s->faults);
    s->cluster_uuid = random_name(&s->clock);
}

int server_open(struct server *s, struct err *err)
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

void server_release(struct server *s)
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
