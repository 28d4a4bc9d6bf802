/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration: one JSON file with comments, validated as a whole and returned as structs.
 *
 * Every option is declared once, in src/config/options.c; docs/configuration.md is its manual.
 * config_load finds all errors that the file alone shows, before any connection is made. It returns
 * ERR_CONFIG with one line `shop.json:12:5: unknown key "pipelines[0].from.tabel"` and a hint. No
 * message contains the value of a secret or a URI.
 *
 * The file only names secrets. secret_resolve_all reads them when a command needs them.
 * Relative paths in the file are relative to the file's directory.
 */
#pragma once

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
#include "rowferry/source/capture_mode.h"
#include "rowferry/source/catalog/query.h"
#include "rowferry/source/pg/pg.h"

/* The origin of a secret, and its value after it was read. */
enum secret_origin {
    SECRET_NONE,       /* not given */
    SECRET_ENV,        /* an environment variable */
    SECRET_FILE,       /* the content of a file without its last newline */
    SECRET_COMMAND,    /* the first line that a shell command prints */
    SECRET_PROMPT,     /* entered on the terminal without echo */
    SECRET_CREDENTIAL, /* a file in $CREDENTIALS_DIRECTORY (systemd) */
    SECRET_RDS_IAM,    /* a token for each connection, signed here (source.password only) */
};

struct secret {
    enum secret_origin origin;
    bool fresh;  /* read for each connection, because it may have expired */
    char *place; /* variable, path, command, prompt, name or region; null for NONE */
    char *value; /* null until secret_resolve_all */
    struct rotating_secret *renewal; /* set with the value; null if the value cannot change */
};

struct source_config {
    char *uri; /* postgresql://... or key=value, without a password */
    struct secret password;
    char *primary;         /* as uri: the primary if uri is a standby; null if none */
    int64_t retain_age_ms; /* drops the claim of a consumer absent for longer; 0: never */
    int64_t retain_size;   /* or if the log exceeds this number of bytes; 0: no limit */
    int64_t quiet_ms;      /* `run` leaves a source without changes alone for so long; 0: never */
};

struct service_config {
    char **urls; /* without a trailing slash, without user:password@ */
    size_t url_count;
    bool allow_cleartext_credentials;
    struct secret api_key; /* at most one of api_key, bearer, user with password, aws_region */
    struct secret bearer;
    char *user; /* null if none */
    struct secret password;
    char *aws_region; /* null: requests are not signed */
    char *aws_service;
    struct secret aws_key_id;
    struct secret aws_secret_key;
    struct secret aws_token;
    char *proxy;   /* null if none */
    char *ca_file; /* null: the system's store */
    char *client_cert;
    char *client_key;
};

struct limits_config {
    int64_t batch_bytes;
    int64_t batch_operations;
    int64_t in_flight;
    int64_t readers;
    int64_t window_bytes; /* this pipeline's part of the process's window */
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

enum id_form { ID_KEY, ID_SHA256 };
enum index_kind { INDEX_KIND_INDEX, INDEX_KIND_DATA_STREAM };
enum on_schema_change { ON_SCHEMA_CHANGE_STOP, ON_SCHEMA_CHANGE_REBUILD };

struct from_config {
    char *table;
    char **key; /* columns; key_count 0: the primary key */
    size_t key_count;
    char *where; /* SQL condition; null: every row */
    char *query; /* SQL query in place of the table's rows; null: the rows */
    struct dependency *dependencies;
    size_t dependency_count;
    int capture_mode;     /* enum capture_mode */
    char *cursor_column;  /* in mode cursor, else null */
    int64_t overlap_ms;   /* in mode cursor; 0: the default */
    int64_t reconcile_ms; /* between two reconciles; 0: none by schedule */
};

struct to_config {
    char *index;           /* the alias that clients search */
    int kind;              /* enum index_kind */
    char *mappings;        /* JSON object, one line, checked with mapping_parse */
    char *settings;        /* JSON object, one line; null if none */
    char *ingest_pipeline; /* null if none */
    char *routing;         /* a column of from.key; null if none */
    int id;                /* enum id_form */
    bool provenance;       /* each document names its source */
    int64_t keep;          /* number of old generations */
};

struct verify_config {
    int64_t every_ms; /* between two comparisons of `run`; 0: none */
    bool repair;
};

/* Facts that no server knows and `check` uses in its estimates. 0: not stated. */
struct capacity_config {
    int64_t query_rate;   /* queries per second */
    int64_t retention_ms; /* lifetime of a document */
    int64_t growth;       /* documents per day */
};

/* What a hook is told. */
enum hook_event {
    HOOK_GUARD,        /* a guard stopped the pipeline */
    HOOK_STOPPED,      /* an error that a person must correct stopped it */
    HOOK_DEAD_LETTERS, /* more dead letters are open */
    HOOK_REBUILT,      /* another index is live */
    HOOK_HEALED,       /* it works again after one of the first two */
    HOOK_EVENTS
};

struct hook_config {
    char *command; /* both null: no hook; else one of them */
    char *url;
};

struct validate_config {
    bool required;  /* an index is built of a validated definition only */
    int64_t sample; /* documents */
    int64_t k;      /* an expected hit must be among the first k */
    char **filter;  /* fields that searches filter by, in addition to those found automatically */
    size_t filter_count;
    char **sort; /* fields that searches sort by */
    size_t sort_count;
    struct trial_query *queries;
    size_t query_count;
    char *queries_file; /* searches of the application; null: none */
    double min_ndcg;    /* of the mean; 0: none */
};

/* Limits, guard and on_schema_change are resolved: the pipeline's value, else the top level's, else
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
    char *path; /* path of the file that was found */
    struct source_config source;
    struct service_config service;
    struct hook_config on[HOOK_EVENTS];
    bool accept_admin; /* superusers and administrators are intended; or by --accept-admin */
    char *state_path;
    char *listen;        /* "host:port"; null: nothing is served */
    char **listen_names; /* additional names that clients may use in Host */
    size_t listen_name_count;
    int log_level;                     /* enum log_level */
    int log_format;                    /* enum log_format */
    struct pipeline_config *pipelines; /* at least one */
    size_t pipeline_count;
    char **warnings; /* from loading and from secrets, for the log */
    size_t warning_count;
};

/*
 * Reads and checks the file `path`. If it is null, uses $ROWFERRY_CONFIG or the first existing file
 * of ./rowferry.json and /etc/rowferry/rowferry.json. ROWFERRY_LOG_LEVEL, ROWFERRY_LOG_FORMAT and
 * ROWFERRY_LISTEN override the file. Returns ERR_CONFIG for all errors, including a missing file.
 */
int config_load(struct config **out, const char *path, struct err *err) MUST_CHECK;
void config_free(struct config *c); /* wipes secrets; null is allowed */

/* Returns the pipeline with that name, or null. */
const struct pipeline_config *config_pipeline(const struct config *c, const char *name);

/*
 * config_write_built appends the definition of a pipeline's documents as canonical text, which is
 * kept beside a generation: from, mappings, ingest pipeline, routing, id, provenance, fields.
 * config_read_built parses such a text into a configuration with one pipeline. Its other options,
 * including to.kind, are meaningless: a data stream never has a second generation.
 */
void config_write_built(const struct pipeline_config *p, struct buf *out);
int config_read_built(struct config **out, const char *text, struct err *err) MUST_CHECK;

/* Returns how keys address the pipeline's documents. */
struct key_routing config_routing(const struct pipeline_config *p);

/* Parses the mapping of the pipeline's documents, as mapping_parse. */
int config_mapping(const struct pipeline_config *p, struct mapping *out,
                   struct err *err) MUST_CHECK;

/* Returns the text of to.id, or null if it has its default. */
const char *config_id(const struct pipeline_config *p);

/* Checks a URI from elsewhere as config_load checks source.uri. A password in it is ERR_CONFIG. */
int config_check_uri(const char *uri, struct err *err) MUST_CHECK;
/* Does the same for service.url. `credential`: requests contain a credential. */
int config_check_url(const char *url, bool credential, struct err *err) MUST_CHECK;

/* Returns true if `listen` is set to an address that is not a loopback address. */
bool config_listens_open(const struct config *c);

/*
 * Reads every secret that the file names; a second call does nothing. Returns ERR_CONFIG if a
 * variable is not set, a file or credential is not readable, or there is no terminal. Returns
 * ERR_REJECTED if a command failed, ERR_TRANSIENT if it did not end within 30 s. A file that others
 * can read adds a warning.
 */
int secret_resolve_all(struct config *c, struct err *err) MUST_CHECK;

/* Reads a line from the terminal without echo (secret_prompt.c); the caller wipes and frees it. An
 * empty prompt is that of the option. ERR_CONFIG if there is no terminal. */
int secret_from_prompt(const char *prompt, const char *option, char **out,
                       struct err *err) MUST_CHECK;

/*
 * Calls the function for each option whose value differs, with its path, its pipeline (null: the
 * top level), and true if a running process can apply it (secrets, limits, delete_guard, log).
 */
typedef void (*config_difference)(void *context, const char *path, const char *pipeline, bool live);
void config_compare(const struct config *was, const struct config *is, config_difference tell,
                    void *context);

/* Replaces the secrets of `to` with those of `from`, borrowed. */
void secret_borrow_all(struct config *to, const struct config *from);

/* Keeps input from prompts: secrets of `to` with the same prompt get the value of `from`. */
void secret_keep_all_prompted(struct config *to, const struct config *from);

/* Appends the hosts of the service, for people, without scheme and path: "a:9200, b:9200". */
void config_push_service_place(const struct service_config *service, struct buf *out);

/* Fills the option structs of the source and service modules, borrowing from c. Secrets must be
 * resolved. */
void config_source_options(const struct config *c, const char *application_name,
                           struct source_options *out);
void config_service_options(const struct config *c, const struct pipeline_config *pipeline,
                            struct service_options *out);
