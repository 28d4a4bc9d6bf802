/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings and choices of `init`, from the table to the configuration.
 */
#pragma once

#include "arguments.h"
#include "rowferry/service/http/product.h"
#include "rowferry/source/survey/survey.h"

#define INIT_TEXT_BYTES ((size_t)16 << 20)
#define INIT_KEY_VARIABLE "ROWFERRY_API_KEY"
#define INIT_USER_VARIABLE "ROWFERRY_USER"
#define INIT_PASSWORD_VARIABLE "ROWFERRY_PASSWORD"
#define INIT_CA_VARIABLE "ROWFERRY_CA_FILE"

/* Credentials for the service from the environment; each may be null. */
struct init_credential {
    const char *api_key;
    const char *user; /* set with password; null if there is an api_key */
    const char *password;
    char *ca_file; /* owned; absolute path */
};

enum init_capture {
    INIT_LOG,         /* installed, or this role may install it */
    INIT_LOG_BY_DBA,  /* another role has to install it */
    INIT_LOG_PRIMARY, /* this server is a standby */
    INIT_CURSOR,
};

struct init {
    const struct arguments *arguments;
    struct survey survey;
    char *url;
    struct init_credential credential;
    struct product_info product;
    int nodes;         /* data nodes; 0 if unknown */
    char trouble[512]; /* why the service was not queried; empty if it answered */
    char *index;       /* the alias */
    char *taken;       /* the first proposed name if it is in use; else null */
    char *pipeline;
    enum init_capture capture;
    const struct column *time; /* what "@timestamp" of a data stream is filled from; null: none */
    bool suits_stream;         /* the rows were only added so far */
    bool stream;
    struct proposed mapping;
};

/* Returns true if questions may be asked: on a terminal and without --yes. */
bool init_asks(const struct arguments *a);
/* Reads one line from the terminal into *answer, which keeps its value if the line is empty. If
 * `check` refuses the line with err, the question is repeated. Returns false at the end of
 * input. */
bool init_ask(const char *question, char **answer,
              int (*check)(const char *answer, struct err *err));

/* Chooses the capture mode; *cursor_too is true if mode cursor would do as well. Returns
 * ERR_REJECTED if no mode fits. */
int init_choose_capture(struct init *i, bool *cursor_too, struct err *err) MUST_CHECK;

/* Appends the configuration. */
void init_write(struct buf *out, const struct init *i);
/* Appends the lines of the mapping's properties, indented by `indent` blanks. */
void init_write_properties(struct buf *out, const struct proposed *mapping, int indent);
