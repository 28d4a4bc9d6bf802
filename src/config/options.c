/* SPDX-License-Identifier: Apache-2.0 */
/* The option table and its lookups. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/config/config.h"
#include "rowferry/service/index/index.h"
#include "rowferry/source/sql/sqltext.h"
#include "syntax/address.h"
#include "syntax/text_check.h"

#define IN_FILE(member) offsetof(struct config, member)
#define IN_PIPELINE(member) offsetof(struct pipeline_config, member)

#define HOOK(event, which, when)                                                                   \
    {"on." event ".command", SCOPE_FILE, OPTION_TEXT, IN_FILE(on[which].command),                  \
     .help = "a shell command that gets a JSON object when " when},                                \
    {                                                                                              \
        "on." event ".url", SCOPE_FILE, OPTION_TEXT, IN_FILE(on[which].url),                       \
            .check = address_check_hook, .help = "or a URL that it is posted to"                   \
    }

const struct option options[] = {
    {"$schema", SCOPE_FILE, OPTION_UNREAD, .help = "the JSON Schema, for editors"},

    {"source.uri", SCOPE_FILE, OPTION_TEXT, IN_FILE(source.uri), true, .check = address_check_uri,
     .help = "PostgreSQL as a URI or as key=value, without a password"},
    {"source.password", SCOPE_FILE, OPTION_SECRET, IN_FILE(source.password),
     .help = "default: libpq's own rules (passfile, PGPASSWORD, peer)"},
    {"source.primary", SCOPE_FILE, OPTION_TEXT, IN_FILE(source.primary), .check = address_check_uri,
     .help =
         "the primary of a standby in source.uri, where the change log is written; same password"},
    {"source.retain.age", SCOPE_FILE, OPTION_DURATION, IN_FILE(source.retain_age_ms), .least = "1h",
     .most = "3650d",
     .help = "drop the claim of a consumer that has been absent for longer; default: never"},
    {"source.retain.size", SCOPE_FILE, OPTION_SIZE, IN_FILE(source.retain_size), .least = "1MiB",
     .most = "1024GiB",
     .help = "drop that of one absent for an hour if the change log is larger than this"},
    {"source.quiet", SCOPE_FILE, OPTION_DURATION, IN_FILE(source.quiet_ms), .least = "1m",
     .most = "24h",
     .help = "run: disconnect after a minute without changes, and look again after this time"},

    {"service.url", SCOPE_FILE, OPTION_TEXTS, IN_FILE(service.urls), true,
     .check = address_check_service,
     .help = "base URL of the search service, or a list of them; a path prefix is kept; or a cloud "
             "id of Elastic Cloud"},
    {"service.auth.api_key", SCOPE_FILE, OPTION_SECRET, IN_FILE(service.api_key),
     .help = "sent as \"Authorization: ApiKey\""},
    {"service.auth.bearer", SCOPE_FILE, OPTION_SECRET, IN_FILE(service.bearer),
     .help = "sent as \"Authorization: Bearer\""},
    {"service.auth.user", SCOPE_FILE, OPTION_TEXT, IN_FILE(service.user),
     .help = "basic authentication, with password"},
    {"service.auth.password", SCOPE_FILE, OPTION_SECRET, IN_FILE(service.password),
     .help = "basic authentication, with user"},
    {"service.auth.aws_sigv4.region", SCOPE_FILE, OPTION_TEXT, IN_FILE(service.aws_region),
     .check = text_check_name,
     .help = "requests are signed for this region (Amazon's Signature 4)"},
    {"service.auth.aws_sigv4.service", SCOPE_FILE, OPTION_TEXT, IN_FILE(service.aws_service),
     .check = text_check_name, .help = "left out: es"},
    {"service.auth.aws_sigv4.access_key_id", SCOPE_FILE, OPTION_SECRET, IN_FILE(service.aws_key_id),
     .help = "default: the variable AWS_ACCESS_KEY_ID"},
    {"service.auth.aws_sigv4.secret_access_key", SCOPE_FILE, OPTION_SECRET,
     IN_FILE(service.aws_secret_key), .help = "default: the variable AWS_SECRET_ACCESS_KEY"},
    {"service.auth.aws_sigv4.session_token", SCOPE_FILE, OPTION_SECRET, IN_FILE(service.aws_token),
     .help = "default: the variable AWS_SESSION_TOKEN, if access_key_id is omitted too"},
    {"service.proxy", SCOPE_FILE, OPTION_TEXT, IN_FILE(service.proxy), .check = address_check_url,
     .help = "an HTTP proxy before the service, as a URL; those of the environment are not used"},
    {"service.tls.ca_file", SCOPE_FILE, OPTION_PATH, IN_FILE(service.ca_file),
     .help = "PEM file of the authority; default: the system's store"},
    {"service.tls.client_cert", SCOPE_FILE, OPTION_PATH, IN_FILE(service.client_cert),
     .help = "PEM file, with client_key"},
    {"service.tls.client_key", SCOPE_FILE, OPTION_PATH, IN_FILE(service.client_key),
     .help = "PEM file, with client_cert"},
    {"service.allow_cleartext_credentials", SCOPE_FILE, OPTION_FLAG,
     IN_FILE(service.allow_cleartext_credentials), .fallback = "false",
     .help = "a credential over http:// to another host (a sidecar that does TLS)"},

    HOOK("guard", HOOK_GUARD, "a guard has stopped a pipeline"),
    HOOK("stopped", HOOK_STOPPED, "an error has stopped a pipeline"),
    HOOK("dead_letters", HOOK_DEAD_LETTERS, "more dead letters are open"),
    HOOK("rebuilt", HOOK_REBUILT, "another index is live"),
    HOOK("healed", HOOK_HEALED, "a pipeline works again"),
    {"accept_admin", SCOPE_FILE, OPTION_FLAG, IN_FILE(accept_admin), .fallback = "false",
     .help = "a superuser of the database and an administrator of the service are intended"},
    {"state.path", SCOPE_FILE, OPTION_PATH, IN_FILE(state_path),
     .help = "the state file; default: rowferry.db in $STATE_DIRECTORY, else beside this file"},
    {"listen", SCOPE_FILE, OPTION_TEXT, IN_FILE(listen), .check = address_check_listen,
     .help = "host:port of metrics, health and status page of run; ROWFERRY_LISTEN wins"},
    {"listen_names", SCOPE_FILE, OPTION_LIST, IN_FILE(listen_names), .check = address_check_host,
     .help = "names by which clients may call it, beside addresses, localhost, this machine's name "
             "and that in listen"},
    {"log.level", SCOPE_FILE, OPTION_CHOICE, IN_FILE(log_level), .fallback = "info",
     .choices = "debug|info|warn|error", .help = "ROWFERRY_LOG_LEVEL wins"},
    {"log.format", SCOPE_FILE, OPTION_CHOICE, IN_FILE(log_format), .fallback = "text",
     .choices = "text|json", .help = "ROWFERRY_LOG_FORMAT wins"},

    {"limits.batch_bytes", SCOPE_BOTH, OPTION_SIZE, IN_PIPELINE(limits.batch_bytes),
     .fallback = "5MiB", .least = "1KiB", .most = "100MiB",
     .help = "target size of a bulk request; one document may exceed it"},
    {"limits.batch_operations", SCOPE_BOTH, OPTION_COUNT, IN_PIPELINE(limits.batch_operations),
     .fallback = "5000", .least = "1", .most = "100000",
     .help = "maximum number of operations in one bulk request"},
    {"limits.in_flight", SCOPE_BOTH, OPTION_COUNT, IN_PIPELINE(limits.in_flight), .fallback = "8",
     .least = "1", .most = "64", .help = "maximum number of bulk requests in flight"},
    {"limits.readers", SCOPE_BOTH, OPTION_COUNT, IN_PIPELINE(limits.readers), .fallback = "2",
     .least = "1", .most = "8", .help = "maximum number of connections that read an initial load"},
    {"limits.window_bytes", SCOPE_BOTH, OPTION_SIZE, IN_PIPELINE(limits.window_bytes),
     .fallback = "12MiB", .least = "64KiB", .most = "1GiB",
     .help = "unsettled bytes of the process, divided among its pipelines; in a pipeline: its own"},
    {"limits.document_bytes", SCOPE_BOTH, OPTION_SIZE, IN_PIPELINE(limits.document_bytes),
     .fallback = "16MiB", .least = "1KiB", .most = "100MiB",
     .help = "a larger document is a dead letter"},
    {"limits.request_timeout", SCOPE_BOTH, OPTION_DURATION, IN_PIPELINE(limits.request_timeout_ms),
     .fallback = "60s", .least = "1s", .most = "1h",
     .help = "time limit of one request, body and answer"},
    {"limits.retry_budget", SCOPE_BOTH, OPTION_DURATION, IN_PIPELINE(limits.retry_budget_ms),
     .fallback = "2m", .least = "0s", .most = "1d",
     .help = "how long sync keeps trying without progress"},
    {"limits.poll_min", SCOPE_BOTH, OPTION_DURATION, IN_PIPELINE(limits.poll_min_ms),
     .fallback = "20ms", .least = "1ms", .most = "1h",
     .help = "between polls while changes arrive"},
    {"limits.poll_max", SCOPE_BOTH, OPTION_DURATION, IN_PIPELINE(limits.poll_max_ms),
     .fallback = "1s", .least = "1ms", .most = "1h", .help = "between polls when idle"},
    {"limits.linger", SCOPE_BOTH, OPTION_DURATION, IN_PIPELINE(limits.linger_ms),
     .fallback = "20ms", .least = "0ms", .most = "10s",
     .help = "how long a batch waits for more operations"},
    {"delete_guard.share", SCOPE_BOTH, OPTION_SHARE, IN_PIPELINE(delete_guard.share),
     .fallback = "0.1", .least = "0", .most = "1",
     .help = "deletes of more than this share of the documents and of count stop the pipeline"},
    {"delete_guard.count", SCOPE_BOTH, OPTION_COUNT, IN_PIPELINE(delete_guard.count),
     .fallback = "100", .least = "0", .most = "1000000000", .help = "see share"},
    {"on_schema_change", SCOPE_BOTH, OPTION_CHOICE, IN_PIPELINE(on_schema_change),
     .fallback = "stop", .choices = "stop|rebuild",
     .help = "when table, mapping or index have changed"},

    {"pipelines", SCOPE_FILE, OPTION_PIPELINES, .required = true,
     .help = "one or more, each a table kept equal to an index"},
    {"name", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(name), true, .check = text_check_name,
     .help = "letters, digits, - and _, at most 40"},
    {"from.table", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(from.table), true,
     .check = text_check_table,
     .help = "\"schema.table\" or \"table\" (public); in quotes as in SQL if a name has a dot"},
    {"from.key", SCOPE_PIPELINE, OPTION_LIST, IN_PIPELINE(from.key),
     .help = "the columns that identify a row; default: the primary key"},
    {"from.where", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(from.where), .check = sqltext_check,
     .help = "SQL condition; rows that stop matching are deleted from the index"},
    {"from.capture.mode", SCOPE_PIPELINE, OPTION_CHOICE, IN_PIPELINE(from.capture_mode),
     .fallback = "changelog", .choices = CAPTURE_MODE_CHOICES, .help = "how changes are found"},
    {"from.capture.column", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(from.cursor_column),
     .help = "of mode cursor: the column that grows with each change"},
    {"from.capture.overlap", SCOPE_PIPELINE, OPTION_DURATION, IN_PIPELINE(from.overlap_ms),
     .least = "1ms", .most = "7d",
     .help = "of mode cursor: how long after its value a row may become visible"},
    {"from.capture.deletes.reconcile", SCOPE_PIPELINE, OPTION_DURATION,
     IN_PIPELINE(from.reconcile_ms), .least = "1s", .most = "366d",
     .help = "how often documents without a row are looked for and deleted"},
    {"from.query", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(from.query), .check = sqltext_check,
     .help = "SQL query in place of the table's rows: one row for each key of the table"},
    {"from.depends_on", SCOPE_PIPELINE, OPTION_DEPENDS, IN_PIPELINE(from.dependencies),
     .help = "the other tables that the query reads: table, key, keys"},

    {"to.index", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(to.index), true,
     .check = index_alias_check, .help = "the alias that people search, or the data stream"},
    {"to.kind", SCOPE_PIPELINE, OPTION_CHOICE, IN_PIPELINE(to.kind), .fallback = "index",
     .choices = "index|data_stream",
     .help = "what is written to; into a data stream documents are only added"},
    {"to.mappings", SCOPE_PIPELINE, OPTION_JSON, IN_PIPELINE(to.mappings), true,
     .check = text_check_mapping, .help = "the service's own JSON; it decides the documents"},
    {"to.settings", SCOPE_PIPELINE, OPTION_JSON, IN_PIPELINE(to.settings),
     .help = "the service's own JSON"},
    {"to.ingest_pipeline", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(to.ingest_pipeline),
     .help = "an ingest pipeline of the service"},
    {"to.keep", SCOPE_PIPELINE, OPTION_COUNT, IN_PIPELINE(to.keep), .fallback = "1", .least = "0",
     .most = "100", .help = "former generations that stay, for reindex --rollback"},
    {"to.routing", SCOPE_PIPELINE, OPTION_TEXT, IN_PIPELINE(to.routing),
     .help = "a column of from.key: documents with the same value lie on the same shard"},
    {"to.id", SCOPE_PIPELINE, OPTION_CHOICE, IN_PIPELINE(to.id), .fallback = "key",
     .choices = "key|sha256",
     .help = "sha256: the _id of a key of more than 512 bytes is its hash, and no dead letter"},
    {"to.provenance", SCOPE_PIPELINE, OPTION_FLAG, IN_PIPELINE(to.provenance), .fallback = "false",
     .help = "each document gets an object provenance: pipeline, database, table, version and time "
             "of the read"},
    {"fields", SCOPE_PIPELINE, OPTION_FIELDS, IN_PIPELINE(fields),
     .help = "property <- column if the names differ; null: the service fills it; or an object: "
             "the zone of a timestamp, and its column"},
    {"verify.every", SCOPE_PIPELINE, OPTION_DURATION, IN_PIPELINE(verify.every_ms), .least = "1s",
     .most = "366d", .help = "how often run compares the index with the table"},
    {"verify.repair", SCOPE_PIPELINE, OPTION_FLAG, IN_PIPELINE(verify.repair), .fallback = "false",
     .help = "and sends what differs"},
    {"validate.required", SCOPE_PIPELINE, OPTION_FLAG, IN_PIPELINE(validate.required),
     .fallback = "false",
     .help = "an index is built only after validate has passed for its definition"},
    {"validate.sample", SCOPE_PIPELINE, OPTION_COUNT, IN_PIPELINE(validate.sample),
     .fallback = "500", .least = "10", .most = "5000", .help = "documents that validate tries"},
    {"validate.k", SCOPE_PIPELINE, OPTION_COUNT, IN_PIPELINE(validate.k), .fallback = "10",
     .least = "1", .most = "100", .help = "an expected hit must be among the first k hits"},
    {"validate.filter", SCOPE_PIPELINE, OPTION_LIST, IN_PIPELINE(validate.filter),
     .help =
         "fields that your searches filter by, in addition to those that validate finds by itself"},
    {"validate.sort", SCOPE_PIPELINE, OPTION_LIST, IN_PIPELINE(validate.sort),
     .help = "fields that your searches sort by, in addition to those"},
    {"validate.queries", SCOPE_PIPELINE, OPTION_QUERIES, IN_PIPELINE(validate.queries),
     .help = "searches and the ids that they must find: name, q or body, expect, k, judgements, "
             "min_ndcg, search_pipeline"},
    {"validate.queries_file", SCOPE_PIPELINE, OPTION_PATH, IN_PIPELINE(validate.queries_file),
     .help = "searches of your application: a search slow log, or one search body per line"},
    {"validate.min_ndcg", SCOPE_PIPELINE, OPTION_SHARE, IN_PIPELINE(validate.min_ndcg),
     .least = "0", .most = "1",
     .help = "validate fails if the mean nDCG@10 of the judged searches "
             "is less"},
    {"capacity.query_rate", SCOPE_PIPELINE, OPTION_COUNT, IN_PIPELINE(capacity.query_rate),
     .least = "1", .most = "1000000",
     .help = "for check: queries a second that the index is to answer"},
    {"capacity.retention", SCOPE_PIPELINE, OPTION_DURATION, IN_PIPELINE(capacity.retention_ms),
     .least = "1h", .most = "36500d", .help = "for check: how long a document stays"},
    {"capacity.growth", SCOPE_PIPELINE, OPTION_COUNT, IN_PIPELINE(capacity.growth), .least = "1",
     .most = "100000000000", .help = "for check: documents that are added in a day"},
    {.path = NULL},
};

bool options_belongs(const struct option *o, bool in_pipeline)
{
    return o->scope == SCOPE_BOTH || (o->scope == SCOPE_PIPELINE) == in_pipeline;
}

const struct option *options_find(bool in_pipeline, const char *path)
{
    for (const struct option *o = options; o->path != NULL; o++) {
        if (options_belongs(o, in_pipeline) && strcmp(o->path, path) == 0) {
            return o;
        }
    }
    return NULL;
}

/* Returns the rest of `path` after "group.", or null; group "" is the top. */
static const char *options_below(const char *path, const char *group)
{
    size_t len = strlen(group);
    if (len == 0) {
        return path;
    }
    return strncmp(path, group, len) == 0 && path[len] == '.' ? path + len + 1 : NULL;
}

bool options_is_group(bool in_pipeline, const char *path)
{
    for (const struct option *o = options; o->path != NULL; o++) {
        if (options_belongs(o, in_pipeline) && options_below(o->path, path) != NULL) {
            return true;
        }
    }
    return false;
}

char *options_nearest(bool in_pipeline, const char *group, const char *word)
{
    char **keys = NULL;
    size_t count = 0;
    for (const struct option *o = options; o->path != NULL; o++) {
        const char *rest = options_belongs(o, in_pipeline) ? options_below(o->path, group) : NULL;
        if (rest != NULL) {
            keys = mem_grow(keys, count + 2, sizeof(*keys));
            keys[count++] = text_copy_span(span_make(rest, strcspn(rest, ".")));
            keys[count] = NULL;
        }
    }
    const char *nearest = count > 0 ? text_nearest(word, (const char *const *)keys) : NULL;
    char *copy = nearest != NULL ? text_copy(nearest) : NULL;
    for (size_t i = 0; i < count; i++) {
        free(keys[i]);
    }
    free(keys);
    return copy;
}
