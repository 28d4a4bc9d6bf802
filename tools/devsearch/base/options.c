/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line and reads the files that it names. */
#include "base/options.h"
#include "rowferry/base/units.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: devsearch [options]\n"
    "A small stand-in for OpenSearch or Elasticsearch: for a laptop and for tests, never for\n"
    "production. What it does not know it answers with 400.\n\n"
    "  --listen HOST:PORT          where it listens (127.0.0.1:0, a free port)\n"
    "  --data DIR                  keeps the documents in DIR (in memory)\n"
    "  --api-key-file FILE         asks for `Authorization: ApiKey` with the file's first line\n"
    "  --bearer-file FILE          takes `Authorization: Bearer` with the file's first line\n"
    "  --user NAME                 asks for basic authentication, with\n"
    "  --password-file FILE        the password in the file's first line\n"
    "  --tls-cert FILE             serves https with this certificate and\n"
    "  --tls-key FILE              this key, both PEM\n"
    "  --port-file FILE            writes the port there when it is ready\n"
    "  --product NAME              opensearch (default) or elasticsearch\n"
    "  --max-content-length SIZE   larger requests answer 413 (100MiB)\n"
    "  --faults                    allows faults on request, see docs/devsearch.md\n"
    "  --help, --version\n";

const char *options_help(void)
{
    return help;
}

enum {
    OPTION_LISTEN = 256,
    OPTION_DATA,
    OPTION_KEY,
    OPTION_BEARER,
    OPTION_USER,
    OPTION_PASSWORD,
    OPTION_CERT,
    OPTION_TLS_KEY,
    OPTION_PORT_FILE,
    OPTION_PRODUCT,
    OPTION_MAX,
    OPTION_FAULTS,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPTION_LISTEN},
    {"data", required_argument, NULL, OPTION_DATA},
    {"api-key-file", required_argument, NULL, OPTION_KEY},
    {"bearer-file", required_argument, NULL, OPTION_BEARER},
    {"user", required_argument, NULL, OPTION_USER},
    {"password-file", required_argument, NULL, OPTION_PASSWORD},
    {"tls-cert", required_argument, NULL, OPTION_CERT},
    {"tls-key", required_argument, NULL, OPTION_TLS_KEY},
    {"port-file", required_argument, NULL, OPTION_PORT_FILE},
    {"product", required_argument, NULL, OPTION_PRODUCT},
    {"max-content-length", required_argument, NULL, OPTION_MAX},
    {"faults", no_argument, NULL, OPTION_FAULTS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* Reads a small text file, or only its first line if first_line is true. */
static int read_file(char **out, const char *path, bool first_line, struct err *err)
{
    struct buf text;
    char chunk[4096];
    size_t n;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return err_set(err, ERR_CONFIG, "could not open \"%s\": %s", path, strerror(errno));
    }
    buf_init(&text, (size_t)1 << 20);
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0) {
        buf_push(&text, chunk, n);
    }
    fclose(file);
    text_wipe(*out);
    free(*out);
    *out = buf_detach(&text);
    if (first_line) {
        (*out)[strcspn(*out, "\r\n")] = '\0';
    }
    return 0;
}

static int parse_listen(struct options *o, const char *value, struct err *err)
{
    const char *colon = strrchr(value, ':');
    char *stop = NULL;
    long port = colon != NULL ? strtol(colon + 1, &stop, 10) : -1;
    if (colon == NULL || colon == value || stop == colon + 1 || *stop != '\0' || port < 0 ||
        port > 65535) {
        return err_set(err, ERR_CONFIG, "--listen \"%s\" is not HOST:PORT", value);
    }
    free(o->host);
    o->host = text_copy_span(span_make(value, (size_t)(colon - value)));
    o->port = (int)port;
    return 0;
}

static int parse_product(struct options *o, const char *value, struct err *err)
{
    if (strcmp(value, "opensearch") != 0 && strcmp(value, "elasticsearch") != 0) {
        return err_set(err, ERR_CONFIG, "--product \"%s\" is neither opensearch nor elasticsearch",
                       value);
    }
    o->product = value[0] == 'e' ? ELASTICSEARCH : OPENSEARCH;
    return 0;
}

static int parse_max(struct options *o, const char *value, struct err *err)
{
    int64_t bytes;
    if (!units_parse_size(value, &bytes) || bytes < 1) {
        return err_set(err, ERR_CONFIG, "--max-content-length \"%s\" is not a size such as 100MiB",
                       value);
    }
    o->max_content_length = (size_t)bytes;
    return 0;
}

static void keep(char **place, const char *value)
{
    free(*place);
    *place = text_copy(value);
}

static int take(struct options *o, int option, const char *value, struct err *err)
{
    switch (option) {
    case OPTION_LISTEN:
        return parse_listen(o, value, err);
    case OPTION_DATA:
        keep(&o->data, value);
        return 0;
    case OPTION_KEY:
        return read_file(&o->api_key, value, true, err);
    case OPTION_BEARER:
        return read_file(&o->bearer, value, true, err);
    case OPTION_USER:
        keep(&o->user, value);
        return 0;
    case OPTION_PASSWORD:
        return read_file(&o->password, value, true, err);
    case OPTION_CERT:
        return read_file(&o->tls_cert, value, false, err);
    case OPTION_TLS_KEY:
        return read_file(&o->tls_key, value, false, err);
    case OPTION_PORT_FILE:
        keep(&o->port_file, value);
        return 0;
    case OPTION_PRODUCT:
        return parse_product(o, value, err);
    case OPTION_MAX:
        return parse_max(o, value, err);
    case OPTION_FAULTS:
        o->faults = true;
        return 0;
    case OPTION_HELP:
        o->help = true;
        return 0;
    case OPTION_VERSION:
        o->version = true;
        return 0;
    default:
        return err_set(err, ERR_CONFIG, "unknown option or missing value, see devsearch --help");
    }
}

int options_parse(struct options *o, int argc, char **argv, struct err *err)
{
    *o = (struct options){.host = text_copy("127.0.0.1"), .max_content_length = (size_t)100 << 20};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        int rc = take(o, option, optarg, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (optind < argc) {
        return err_set(err, ERR_CONFIG, "\"%s\" is not an option, see devsearch --help",
                       argv[optind]);
    }
    if ((o->user == NULL) != (o->password == NULL)) {
        return err_set(err, ERR_CONFIG, "--user and --password-file belong together");
    }
    if ((o->tls_cert == NULL) != (o->tls_key == NULL)) {
        return err_set(err, ERR_CONFIG, "--tls-cert and --tls-key belong together");
    }
    return 0;
}

void options_release(struct options *o)
{
    text_wipe(o->api_key);
    text_wipe(o->bearer);
    text_wipe(o->password);
    text_wipe(o->tls_key);
    free(o->host);
    free(o->data);
    free(o->api_key);
    free(o->bearer);
    free(o->user);
    free(o->password);
    free(o->tls_cert);
    free(o->tls_key);
    free(o->port_file);
    *o = (struct options){0};
}
