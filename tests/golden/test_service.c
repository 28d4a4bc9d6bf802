/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes golden pairs to a real search service and reads them back. Values that fit according to
 * the type table must be accepted and returned byte for byte.
 *
 *     ROWFERRY_TEST_SERVICE=http://127.0.0.1:9200 golden_service FILE...
 *
 * Uses a temporary index for each property. A property that the service does not know is skipped
 * and reported. A value may be rejected only if its line of the table permits it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "http.h"
#include "plan/type_table.h"
#include "rowferry/base/text.h"

#define MAX_PAIRS 4000
#define INDEX_MAX_BYTES 64

struct sent {
    char *place; /* "texts.txt:12" */
    char *property;
    char *document;
    bool may_be_rejected;
    bool done;
};

struct service {
    const char *url;
    struct sent pairs[MAX_PAIRS];
    size_t count;
    size_t indices;
    size_t taken;
    size_t rejected; /* if the table permits it */
    size_t unknown;  /* pairs of properties that the service does not know */
    size_t wrong;
};

static bool may_be_rejected(const struct type_rule *rule)
{
    return rule->loss != NULL &&
           (strstr(rule->loss, "dead letter") != NULL || strstr(rule->loss, "refuses") != NULL);
}

static void keep(struct service *s, const struct pair *pair, const struct golden_plan *plan,
                 const char *document)
{
    char place[128];
    if (s->count == MAX_PAIRS) {
        fputs("more pairs than there is room for\n", stderr);
        exit(EXIT_FAILURE);
    }
    snprintf(place, sizeof(place), "%s:%d", pair->file, pair->line);
    s->pairs[s->count++] = (struct sent){
        .place = text_copy(place),
        .property = text_copy(pair->property),
        .document = text_copy_span(span_make(document, strcspn(document, "\n"))),
        .may_be_rejected = may_be_rejected(plan->plan.steps[0].pair.rule),
    };
}

/* Records the document of a pair that the encoder accepts. */
static void take_pair(void *context, struct pg *pg, const struct pair *pair)
{
    struct golden_plan plan;
    struct refusal refusal;
    struct buf properties;
    struct batch batch;
    buf_init(&properties, 65536);
    batch_init(&batch, 1 << 20, 1 << 20, 10);
    buf_printf(&properties, "{\"p\":%s}", pair->property);
    golden_plan(&plan, pg, "golden", buf_text(&properties));
    if (plan.fits && golden_encode(&batch, &plan, pg, &refusal)) {
        keep(context, pair, &plan, strchr(buf_text(&batch.bytes), '\n') + 1);
    }
    batch_release(&batch);
    golden_plan_release(&plan);
    buf_release(&properties);
}

/* Returns the property with all members that a service requires. */
static const char *in_full(const char *property)
{
    static const char *const forms[][2] = {
        {"{\"type\":\"scaled_float\"}", "{\"type\":\"scaled_float\",\"scaling_factor\":100}"},
        {"{\"type\":\"object\"}", "{\"type\":\"object\",\"enabled\":false}"},
        {"{\"type\":\"nested\"}", "{\"type\":\"nested\",\"dynamic\":false}"},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (strcmp(property, forms[i][0]) == 0) {
            return forms[i][1];
        }
    }
    return property;
}

/* Returns false if the service does not know the property. */
static bool create(const struct service *s, const char *index, const char *property)
{
    struct buf body;
    struct reply reply;
    char path[INDEX_MAX_BYTES + 1];
    snprintf(path, sizeof(path), "/%s", index);
    buf_init(&body, 65536);
    buf_printf(&body,
               "{\"settings\":{\"number_of_replicas\":0,\"index.mapping.depth.limit\":1000},"
               "\"mappings\":{\"dynamic\":true,"
               "\"properties\":{\"source_id\":{\"type\":\"keyword\"},\"p\":%s}}}",
               in_full(property));
    reply_get(&reply, "DELETE", s->url, path, NULL, NULL);
    reply_release(&reply);
    reply_get(&reply, "PUT", s->url, path, buf_text(&body), NULL);
    bool known = reply.status == 200;
    if (!known) {
        printf("left out: %s: HTTP %d %.200s\n", property, reply.status, reply.body);
    }
    reply_release(&reply);
    buf_release(&body);
    return known;
}

static void expect_source(struct service *s, const char *index, const struct sent *p, size_t id)
{
    char path[INDEX_MAX_BYTES + 32];
    struct reply reply;
    snprintf(path, sizeof(path), "/%s/_source/%zu", index, id);
    reply_get(&reply, "GET", s->url, path, NULL, NULL);
    if (reply.status != 200 || strcmp(reply.body, p->document) != 0) {
        s->wrong++;
        fprintf(stderr, "%s: %s\n  sent %.300s\n  got  %.300s\n", p->place, p->property,
                p->document, reply.body);
    } else {
        s->taken++;
    }
    reply_release(&reply);
}

static void send_pair(struct service *s, const char *index, const struct sent *p, size_t id)
{
    char path[INDEX_MAX_BYTES + 32];
    struct buf body;
    struct reply reply;
    buf_init(&body, 1 << 20);
    snprintf(path, sizeof(path), "/%s/_bulk", index);
    buf_printf(&body, "{\"index\":{\"_id\":\"%zu\"}}\n%s\n", id, p->document);
    reply_get(&reply, "POST", s->url, path, buf_text(&body), NULL);
    if (reply.status == 200 && strstr(reply.body, "\"errors\":false") != NULL) {
        expect_source(s, index, p, id);
    } else if (reply.status == 200 && p->may_be_rejected) {
        s->rejected++;
    } else {
        s->wrong++;
        fprintf(stderr, "%s: %s rejects %.300s\n  %.500s\n", p->place, p->property, p->document,
                reply.body);
    }
    reply_release(&reply);
    buf_release(&body);
}

/* Sends all pairs that have the property of the first one. */
static void send_property(struct service *s, size_t first)
{
    char index[INDEX_MAX_BYTES];
    char path[INDEX_MAX_BYTES + 1];
    struct reply reply;
    const char *property = s->pairs[first].property;
    snprintf(index, sizeof(index), "rowferry-golden-%zu", s->indices++);
    bool known = create(s, index, property);
    for (size_t i = first; i < s->count; i++) {
        struct sent *p = &s->pairs[i];
        if (p->done || strcmp(p->property, property) != 0) {
            continue;
        }
        p->done = true;
        if (known) {
            send_pair(s, index, p, i);
        } else {
            s->unknown++;
        }
    }
    snprintf(path, sizeof(path), "/%s", index);
    reply_get(&reply, "DELETE", s->url, path, NULL, NULL);
    reply_release(&reply);
}

static void release(struct service *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->pairs[i].place);
        free(s->pairs[i].property);
        free(s->pairs[i].document);
    }
}

int main(int argc, char **argv)
{
    static struct service s;
    struct buf skipped;
    s.url = getenv("ROWFERRY_TEST_SERVICE");
    if (s.url == NULL) {
        puts("skip: needs a search service in $ROWFERRY_TEST_SERVICE (tests/servers/opensearch)");
        return GOLDEN_SKIPPED;
    }
    struct pg *pg = golden_open();
    buf_init(&skipped, 65536);
    for (int i = 1; i < argc; i++) {
        golden_file(pg, argv[i], take_pair, &s, &skipped);
    }
    pg_close(pg);
    buf_release(&skipped);
    for (size_t i = 0; i < s.count; i++) {
        if (!s.pairs[i].done) {
            send_property(&s, i);
        }
    }
    printf(
        "%zu documents: %zu came back as sent, %zu rejected as the table says, %zu of properties "
        "that the service does not know, %zu wrong\n",
        s.count, s.taken, s.rejected, s.unknown, s.wrong);
    release(&s);
    return s.wrong == 0 && s.taken > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
