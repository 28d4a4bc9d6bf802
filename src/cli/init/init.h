/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What init has found out and chosen, on its way from the table to the configuration.
 */
#ifndef ROWFERRY_CLI_INIT_H
#define ROWFERRY_CLI_INIT_H

#include "arguments.h"
#include "rowferry/service/http/product.h"
#include "rowferry/source/survey/survey.h"

#define INIT_TEXT_BYTES ((size_t)16 << 20)
#define INIT_KEY_VARIABLE "ROWFERRY_API_KEY"
#define INIT_USER_VARIABLE "ROWFERRY_USER"
#define INIT_PASSWORD_VARIABLE "ROWFERRY_PASSWORD"
#define INIT_CA_VARIABLE "ROWFERRY_CA_FILE"

/* What the environment holds for the service; each may be null. */
struct init_credential {
    const char *api_key;
    const char *user; /* with password; null where there is an api_key */
    const char *password;
    char *ca_file; /* owned, absolute */
};

enum init_capture {
    INIT_LOG,         /* installed, or this role may install it */
    INIT_LOG_BY_DBA,  /* another role has to install it */
    INIT_LOG_PRIMARY, /* this is a standby */
    INIT_CURSOR,
};

struct init {
    const struct arguments *arguments;
    struct survey survey;
    char *url;
    struct init_credential credential;
    struct product_info product;
    int nodes;         /* that hold data; 0: unknown */
    char trouble[512]; /* why the service was not asked; empty: it answered */
    char *index;       /* the alias */
    char *taken;       /* the name that was proposed first and is in use; null: none */
    char *pipeline;
    enum init_capture capture;
    struct proposed mapping;
};

/* Whether questions may be asked: a terminal, and no --yes. */
bool init_asks(const struct arguments *a);
/* One line of the terminal into *answer, which keeps its value where nothing is typed. check:
 * refuses with err, and the question comes again. False at the end of input. */
bool init_ask(const char *question, char **answer,
              int (*check)(const char *answer, struct err *err));

/* Which capture fits, and whether the other one would do as well. ERR_REJECTED where none does. */
int init_choose_capture(struct init *i, bool *cursor_too, struct err *err) MUST_CHECK;

/* Appends the configuration. */
void init_write(struct buf *out, const struct init *i);
/* Appends the lines of the mapping's properties, so many blanks from the left. */
void init_write_properties(struct buf *out, const struct proposed *mapping, int indent);

#endif
