/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration: one JSON file with comments, checked as a whole, as structs.
 *
 * Every option is declared once, in src/config/options.c; docs/configuration.md is its manual. All
 * that the file alone shows to be wrong is found by config_load, before anything is connected:
 * ERR_CONFIG with one line `shop.json:12:5: unknown key "pipelines[0].from.tabel"` and a hint. No
 * value of a secret and no URI stands in a message.
 *
 * Secrets are only named by the file; config_resolve_secrets reads them, when a command needs them.
 * Relative paths in the file are relative to the file's directory.
 */
#ifndef ROWFERRY_CONFIG_CONFIG_H
#define ROWFERRY_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/log.h"
#include "rowferry/base/rotating_secret.h"
#include "rowferry/document/plan/plan.h"
#include "rowferry/engine/validate/trial_query.h"
#include "rowferry/service/http/options.h"
#include "rowferry/source/catalog/query.h"
#include "rowferry/source/pg/pg.h"

/* Where a secret comes from, and its value once it was read. */
enum secret_origin {
    SECRET_NONE,       /* left out */
    SECRET_ENV,        /* an environment variable */
    SECRET_FILE,       /* the content of a file without its last newline */
    SECRET_COMMAND,    /* the first line that a shell command prints */
    SECRET_PROMPT,     /* asked on the terminal, without echo */
    SECRET_CREDENTIAL, /* a file in $CREDENTIALS_DIRECTORY (systemd) */
};

struct secret {
    enum secret_origin origin;
    char *place;             /* variable, path, command, prompt or name; null for NONE */
    char *value;             /* null until config_resolve_secrets */
    struct renewal *renewal; /* from then on; null where the origin never gives another text */
};

struct source_config {
    char *uri; /* postgresql://... or key=value, without a password */
    struct secret password;
    char *primary;         /* like uri: of a standby; null: none */
    int64_t retain_age_ms; /* an absent consumer is kept for so long; 0: for ever */
    int64_t retain_size;   /* or until the log takes so many bytes; 0: any */
};

struct service_config {
    char **urls; /* without a trailing slash, without user:password@ */
    size_t url_count;
    bool allow_cleartext_credentials;
    struct secret api_key; /* at most one of api_key, bearer, user with password, aws_region */
    struct secret bearer;
    char *user; /* null: none */
    struct secret password;
    char *aws_region; /* null: requests are not signed */
    char *aws_service;
    struct secret aws_key_id;
    struct secret aws_secret_key;
    struct secret aws_token;
    char *proxy;   /* null: none */
    char *ca_file; /* null: the system's store */
    char *client_cert;
    char *client_key;
};

struct limits_config {
    int64_t batch_bytes;
    int64_t batch_operations;
    int64_t in_flight;
    int64_t readers;
    int64_t window_bytes; /* of this pipeline: its part of the process's */
    int64_t document_bytes;
    int64_t request_timeout_ms;
    int64_t retry_budget_ms;
    int64_t poll_min_ms;
    int64_t poll_max_ms;
    int64_t linger_ms;
};

struct delete_guard_config {
    double share; /* 0 to 1 of the live documents */
    int64_t count;
};

enum capture_mode { CAPTURE_MODE_CHANGELOG, CAPTURE_MODE_CURSOR };
enum index_kind { INDEX_KIND_INDEX, INDEX_KIND_DATA_STREAM };
enum on_schema_change { ON_SCHEMA_CHANGE_STOP, ON_SCHEMA_CHANGE_REBUILD };

struct from_config {
    char *table;
    char **key; /* columns; key_count 0: the primary key */
    size_t key_count;
    char *where; /* SQL; null: every row */
    char *query; /* SQL in place of the table's rows; null: the rows */
    struct dependency *dependencies;
    size_t dependency_count;
    int capture_mode;
    char *cursor_column;  /* of mode cursor, else null */
    int64_t overlap_ms;   /* of mode cursor; 0: the default */
    int64_t reconcile_ms; /* between two; 0: none by time */
};

struct to_config {
    char *index;           /* the alias that people search */
    int kind;              /* enum index_kind */
    char *mappings;        /* JSON object, one line, checked with mapping_parse */
    char *settings;        /* JSON object, one line; null: none */
    char *ingest_pipeline; /* null: none */
    char *routing;         /* a column of from.key; null: none */
    int64_t keep;          /* old generations */
};

struct verify_config {
    int64_t every_ms; /* between two comparisons of `run`; 0: none */
    bool repair;
};

/* What no server knows; check reckons with it. 0: not stated. */
struct capacity_config {
    int64_t query_rate;   /* a second */
    int64_t retention_ms; /* of a document */
    int64_t growth;       /* documents a day */
};

struct validate_config {
    int64_t sample; /* documents */
    int64_t k;      /* an expected hit is among the first so many */
    char **filter;  /* fields that searches filter by, beside those that are found */
    size_t filter_count;
    char **sort; /* and sort by */
    size_t sort_count;
    struct trial_query *queries;
    size_t query_count;
};

/* Limits, guard and on_schema_change are resolved: the pipeline's own, else the top level's, else
 * the default. */
struct pipeline_config {
    char *name;
    struct from_config from;
    struct to_config to;
    struct field *fields;
    size_t field_count;
    struct limits_config limits;
    struct delete_guard_config delete_guard;
    struct verify_config verify;
    struct capacity_config capacity;
    struct validate_config validate;
    int on_schema_change;
};

struct config {
    char *path; /* the file, as it was found */
    struct source_config source;
    struct service_config service;
    char *state_path;
    char *listen;        /* "host:port"; null: nothing is served */
    char **listen_names; /* by which clients may call it as well */
    size_t listen_name_count;
    int log_level;                     /* enum log_level */
    int log_format;                    /* enum log_format */
    struct pipeline_config *pipelines; /* at least one */
    size_t pipeline_count;
    char **warnings; /* of loading and of secrets, for the log */
    size_t warning_count;
};

/*
 * Reads and checks path; null: $ROWFERRY_CONFIG, ./rowferry.json, /etc/rowferry/rowferry.json, the
 * first that is there. ROWFERRY_LOG_LEVEL, ROWFERRY_LOG_FORMAT and ROWFERRY_LISTEN win over the
 * file. ERR_CONFIG for everything that is wrong, a file that is missing included.
 */
int config_load(struct config **out, const char *path, struct err *err) MUST_CHECK;
void config_free(struct config *c); /* wipes secrets; null is allowed */

/* The pipeline of that name; null where there is none. */
const struct pipeline_config *config_pipeline(const struct config *c, const char *name);

/*
 * What decides a pipeline's documents (from, mappings, ingest pipeline, routing, fields), as text
 * that is kept beside a generation; and such a text as a configuration of one pipeline, whose other
 * options mean nothing, to.kind among them: of a data stream there is never a second generation.
 */
void config_write_built(const struct pipeline_config *p, struct buf *out);
int config_read_built(struct config **out, const char *text, struct err *err) MUST_CHECK;

/* Which part of the key routes the pipeline's documents; count 0: none. */
struct key_routing config_routing(const struct pipeline_config *p);

/* What config_load asks of source.uri, for a URI from elsewhere: a password in it is ERR_CONFIG. */
int config_check_uri(const char *uri, struct err *err) MUST_CHECK;
/* The same of service.url, with a credential or without. */
int config_check_url(const char *url, bool credential, struct err *err) MUST_CHECK;

/* Whether `listen` is set to an address that is not loopback's. */
bool config_listens_open(const struct config *c);

/*
 * Reads every secret that the file names; a second call does nothing. ERR_CONFIG: variable not
 * set, file or credential not readable, no terminal; ERR_REJECTED: the command failed;
 * ERR_TRANSIENT: it did not end within 30 s. A file that others can read adds a warning.
 */
int config_resolve_secrets(struct config *c, struct err *err) MUST_CHECK;

/*
 * Calls tell for each option whose value is another: its path, its pipeline (null: the top level),
 * and whether a process that runs can change over to it (secrets, limits, delete_guard, log).
 */
typedef void (*config_difference)(void *context, const char *path, const char *pipeline, bool live);
void config_compare(const struct config *was, const struct config *is, config_difference tell,
                    void *context);

/* The secrets of `from` in place of those of `to`, borrowed. */
void config_borrow_secrets(struct config *to, const struct config *from);

/* What was typed at a prompt stays known: secrets of `to` that ask the same get the value of
 * `from`. */
void config_keep_prompted(struct config *to, const struct config *from);

/* The option structs of the lower rooms, borrowing from c; secrets have to be resolved before. */
void config_source_options(const struct config *c, const char *application_name,
                           struct source_options *out);
void config_service_options(const struct config *c, const struct pipeline_config *pipeline,
                            struct service_options *out);

#endif
