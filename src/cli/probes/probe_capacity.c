/* SPDX-License-Identifier: Apache-2.0 */
/* The capacity review: how much data there is, how much space it needs, and whether there is
 * room. */
#include <stdlib.h>
#include <string.h>

#include "probes/capacity.h"
#include "probes/probe.h"
#include "rowferry/base/units.h"
#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/cluster/storage.h"
#include "rowferry/service/index/index.h"
#include "rowferry/source/catalog/review.h"

#define SAMPLE_ROWS 1000
#define DAY_S 86400

/* --- measuring -------------------------------------------------------------------------------- */

/* Measures the existing index. Without one, the estimate of capacity.h applies. */
static void probe_capacity_take_live(struct check *c, struct sizes *s)
{
    struct err ignored;
    enum alias_kind kind;
    struct index_info index;
    struct storage storage;
    int64_t documents;
    struct service *service = c->session.service;
    if ((c->facts & FACT_RIGHTS) == 0 ||
        index_resolve(service, c->pipeline->to.index, &kind, &index, &ignored) < 0 ||
        (kind != ALIAS_ONE && kind != ALIAS_STREAM) ||
        strcmp(index.pipeline, c->pipeline->name) != 0 ||
        index_count(service, index.name, &documents, &ignored) < 0 ||
        storage_look(service, index.name, &storage, &ignored) < 0) {
        return;
    }
    capacity_take_live(s, documents, storage.bytes);
}

static int probe_capacity_look_sizes(struct check *c, struct sizes *s, struct err *err)
{
    struct check_plan p;
    struct review_sample sample = {0};
    const char *settings = c->pipeline->to.settings;
    int rc = check_plan(c, &p, err);
    if (rc == 0) {
        const struct review_wanted wanted = {(const char *const *)p.plan.columns,
                                             p.plan.column_count, SAMPLE_ROWS};
        rc = review_sample(c->pg, c->table, &wanted, &sample, err);
    }
    *s = (struct sizes){
        .documents =
            c->table->estimated_rows < sample.rows ? sample.rows : c->table->estimated_rows,
        .sampled = sample.rows,
        .late = sample.late,
        .document_bytes = sample.average_bytes,
        .largest_bytes = sample.largest_bytes,
        .shards = index_setting(settings, "index.number_of_shards", 1),
        .copies = 1 + index_setting(settings, "index.number_of_replicas", 1),
        .field_limit = index_setting(settings, "index.mapping.total_fields.limit", FIELD_LIMIT),
    };
    if (rc == 0) {
        capacity_take_mapping(s, &p.mapping);
        probe_capacity_take_live(c, s);
    }
    probe_mapping_plan_release(&p);
    return rc;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void probe_capacity_report_documents(struct check *c, const struct sizes *s)
{
    char many[UNITS_BYTES];
    char average[UNITS_BYTES];
    char largest[UNITS_BYTES];
    int64_t most = c->pipeline->limits.document_bytes;
    c->what = "documents";
    units_count(many, s->documents);
    units_size(average, s->document_bytes);
    units_size(largest, s->largest_bytes);
    if (s->late) {
        check_report(c, VERDICT_WARN, "look at the plan of from.query: explain analyze",
                     "about %s; their size is unknown, a sample takes more than 10s", many);
    } else if (c->table->estimated_rows < 0) {
        check_report(c, VERDICT_WARN, NULL,
                     "%s at least: the table was never analysed, so the number is not known", many);
        check_remedy(c, "analyze %s", c->table->quoted);
    } else if (s->largest_bytes > most) {
        check_report(c, VERDICT_WARN, "raise limits.document_bytes, or leave the large column out",
                     "one of %s becomes a dead letter: limits.document_bytes is smaller", largest);
    } else {
        check_pass(c, "about %s of %s each, the largest of a sample %s", many, average, largest);
    }
}

static void probe_capacity_report_changes(struct check *c)
{
    struct err err;
    struct review_changes r;
    char many[UNITS_BYTES];
    char span[UNITS_BYTES];
    c->what = "indexing rate";
    if (review_changes(c->pg, c->table, &r, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    int64_t written = r.inserts + r.updates + r.deletes;
    check_pass(c, "%.1f changes a second: %s in the last %s",
               (double)written / (double)(r.seconds > 0 ? r.seconds : 1),
               units_count(many, written), units_duration(span, r.seconds * 1000));
}

/* During a rebuild, the next index, the live one and the former ones exist at the same time. */
static void probe_capacity_report_storage(struct check *c, const struct sizes *s,
                                          const struct cluster_room *room)
{
    char one[UNITS_BYTES];
    char all[UNITS_BYTES];
    char left[UNITS_BYTES];
    int64_t bytes = capacity_index_bytes(s) * s->copies;
    int64_t most = bytes * (2 + c->pipeline->to.keep);
    int64_t still = s->live_bytes > 0 ? most - s->live_bytes : most;
    c->what = "storage";
    units_size(one, bytes);
    units_size(all, most);
    if (room->bytes < 0) {
        check_pass(
            c,
            "about %s in %lld cop%s, %s while a rebuild is under way; the free space is not known",
            one, (long long)s->copies, s->copies == 1 ? "y" : "ies", all);
    } else if (still > room->bytes) {
        check_report(c, VERDICT_FAIL,
                     "give the nodes larger disks, or set \"number_of_replicas\" or to.keep lower",
                     "about %s in %lld cop%s, %s while a rebuild is under way, and %s are left "
                     "below the low watermark",
                     one, (long long)s->copies, s->copies == 1 ? "y" : "ies", all,
                     units_size(left, room->bytes));
    } else {
        check_pass(c, "about %s in %lld cop%s, %s while a rebuild is under way, of %s", one,
                   (long long)s->copies, s->copies == 1 ? "y" : "ies", all,
                   units_size(left, room->bytes));
    }
}

static void probe_capacity_report_shards(struct check *c, const struct sizes *s,
                                         const struct cluster_room *room)
{
    char each[UNITS_BYTES];
    int64_t shard = capacity_index_bytes(s) / (s->shards > 0 ? s->shards : 1);
    c->what = "shards";
    units_size(each, shard);
    if (shard > SHARD_MOST_BYTES) {
        check_report(c, VERDICT_WARN, NULL,
                     "%lld of %s: one of more than 50 GiB takes long to move and to recover",
                     (long long)s->shards, each);
        check_remedy(c, "in to.settings: \"number_of_shards\": %lld",
                     (long long)capacity_good_shards(s));
    } else if (s->shards > 1 && shard < SHARD_LEAST_BYTES) {
        check_report(c, VERDICT_WARN, NULL,
                     "%lld of %s: each costs memory and a part of every search",
                     (long long)s->shards, each);
        check_remedy(c, "in to.settings: \"number_of_shards\": %lld",
                     (long long)capacity_good_shards(s));
    } else if (room->data_nodes > 0 && s->copies > room->data_nodes) {
        check_report(c, VERDICT_WARN, NULL,
                     "%lld copies of each, and %lld node%s with data: the index stays yellow",
                     (long long)s->copies, (long long)room->data_nodes,
                     room->data_nodes == 1 ? "" : "s");
        check_remedy(c, "add nodes, or in to.settings: \"number_of_replicas\": %lld",
                     (long long)room->data_nodes - 1);
    } else {
        check_pass(c, "%lld of %s, %lld cop%s of each", (long long)s->shards, each,
                   (long long)s->copies, s->copies == 1 ? "y" : "ies");
    }
}

/* A rebuild makes the shards of another index beside all that are there. */
static void probe_capacity_report_shard_limit(struct check *c, const struct sizes *s,
                                              const struct cluster_room *room)
{
    long long more = (long long)s->shards * s->copies;
    c->what = "shard limit";
    if (room->most == 0 || room->shards < 0) {
        return;
    }
    if (room->shards + more > room->most) {
        check_report(c, VERDICT_FAIL,
                     "delete indices that are not needed, set \"number_of_shards\" lower, or raise "
                     "cluster.max_shards_per_node",
                     "a new index has %lld shards, the cluster has %lld and takes %lld: its "
                     "creation is refused",
                     more, (long long)room->shards, (long long)room->most);
    } else {
        check_pass(c, "%lld for a new index, %lld of %lld in the cluster", more,
                   (long long)room->shards, (long long)room->most);
    }
}

static void probe_capacity_report_request(struct check *c)
{
    struct err err;
    char most[UNITS_BYTES];
    char batch[UNITS_BYTES];
    int64_t bytes = 0;
    int64_t document = c->pipeline->limits.document_bytes;
    c->what = "request size";
    if ((c->facts & FACT_SERVICE) == 0) {
        return;
    }
    if (cluster_request_limit(c->session.service, &bytes, &err) < 0) {
        check_fail(c, &err);
        return;
    }
    units_size(most, bytes);
    if (bytes == 0) {
        check_report(c, VERDICT_INFO, NULL,
                     "not permitted to read: it is learned when a request is refused");
    } else if (document > bytes) {
        check_report(c, VERDICT_WARN, NULL,
                     "the service takes %s: a larger document becomes a dead letter", most);
        check_remedy(c, "set limits.document_bytes to %lld, or raise http.max_content_length",
                     (long long)bytes);
    } else {
        check_pass(c, "batches of up to %s, the service takes %s",
                   units_size(batch, c->pipeline->limits.batch_bytes), most);
    }
}

static void probe_capacity_report_fields(struct check *c, const struct sizes *s)
{
    long long more = (long long)s->fields * 5 / 4;
    c->what = "fields";
    if (s->fields > s->field_limit) {
        check_report(c, VERDICT_FAIL, NULL,
                     "%lld, and the index takes %lld: its creation is refused",
                     (long long)s->fields, (long long)s->field_limit);
        check_remedy(c, "in to.settings: \"index.mapping.total_fields.limit\": %lld", more);
    } else {
        check_pass(c, "%lld of %lld that the index takes", (long long)s->fields,
                   (long long)s->field_limit);
    }
}

static void probe_capacity_report_vectors(struct check *c, const struct sizes *s)
{
    char memory[UNITS_BYTES];
    bool elastic = c->product.product == PRODUCT_ELASTICSEARCH;
    int64_t most = elastic ? DENSE_MOST_DIMENSIONS : KNN_MOST_DIMENSIONS;
    c->what = "vectors";
    units_size(memory, capacity_vector_bytes(s));
    if (s->dimensions > most) {
        check_report(c, VERDICT_FAIL, "use a model with fewer dimensions, or reduce them",
                     "%lld dimensions, and %s takes %lld", (long long)s->dimensions,
                     product_name(c->product.product), (long long)most);
    } else if (s->vector_dimensions > 0) {
        check_pass(c, "%lld dimensions: searching them takes about %s of memory, in each copy",
                   (long long)s->vector_dimensions, memory);
    }
}

static void probe_capacity_push_unstated(struct buf *out, const char *name, int64_t value)
{
    if (value == 0) {
        buf_printf(out, "%s%s", out->len > 0 ? ", " : "", name);
    }
}

/* Reports the load that the configuration states and that cannot be measured. */
static void probe_capacity_report_stated(struct check *c, const struct sizes *s)
{
    struct buf absent;
    char many[UNITS_BYTES];
    char size[UNITS_BYTES];
    char kept[UNITS_BYTES];
    const struct capacity_config *stated = &c->pipeline->capacity;
    c->what = "load";
    buf_init(&absent, 256);
    probe_capacity_push_unstated(&absent, "query rate", stated->query_rate);
    probe_capacity_push_unstated(&absent, "retention", stated->retention_ms);
    probe_capacity_push_unstated(&absent, "growth", stated->growth);
    if (absent.len > 0) {
        check_report(c, VERDICT_INFO,
                     "state them in the pipeline: \"capacity\": {\"query_rate\": 10, "
                     "\"retention\": \"365d\", \"growth\": 1000}: queries a second, how long a "
                     "document stays, documents a day",
                     "not stated: %s", buf_text(&absent));
    } else {
        int64_t days = stated->retention_ms / 1000 / DAY_S;
        int64_t last = stated->growth * (days > 0 ? days : 1);
        last = last > s->documents ? last : s->documents;
        units_size(size, capacity_index_bytes_of(s, last) * s->copies);
        check_pass(c,
                   "%lld queries a second, each over %lld shard%s; %s documents once %s have "
                   "passed, about %s in all copies",
                   (long long)stated->query_rate, (long long)s->shards, s->shards == 1 ? "" : "s",
                   units_count(many, last), units_duration(kept, stated->retention_ms),
                   s->late ? "an unknown amount" : size);
    }
    buf_release(&absent);
}

static void probe_capacity(struct check *c)
{
    struct err err;
    struct sizes s;
    struct cluster_room room = {.bytes = -1, .shards = -1};
    int rc = probe_capacity_look_sizes(c, &s, &err);
    if (rc == 0 && (c->facts & FACT_SERVICE) != 0) {
        rc = cluster_room(c->session.service, &room, &err);
    }
    if (rc < 0) {
        check_fail(c, &err);
        return;
    }
    probe_capacity_report_documents(c, &s);
    probe_capacity_report_changes(c);
    if (!s.late) {
        probe_capacity_report_storage(c, &s, &room);
        probe_capacity_report_shards(c, &s, &room);
    }
    probe_capacity_report_shard_limit(c, &s, &room);
    probe_capacity_report_request(c);
    probe_capacity_report_fields(c, &s);
    probe_capacity_report_vectors(c, &s);
    probe_capacity_report_stated(c, &s);
}

const struct probe probes_capacity[] = {
    {"documents", FACT_TABLE | FACT_GRANTS | FACT_PLAN, 0, probe_capacity},
    {0},
};
