/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the product from the answer to GET /. */
#include "rowferry/service/http/product.h"

#include <stdlib.h>
#include <string.h>

#include "http/body.h"
#include "http/service.h"

const char *const product_headers[] = {"X-elastic-product", "X-OpenSearch-Version", NULL};

/* A refusal of GET / does not name the product, but its error text is typical. */
static const struct telltale {
    const char *words;
    enum product product;
} telltales[] = {
    {"this action is granted by the", PRODUCT_ELASTICSEARCH},
    {"no permissions for [", PRODUCT_OPENSEARCH},
};

const char *product_name(enum product product)
{
    switch (product) {
    case PRODUCT_OPENSEARCH:
        return "OpenSearch";
    case PRODUCT_ELASTICSEARCH:
        return "Elasticsearch";
    default:
        return "unknown";
    }
}

bool product_is_at_least(const struct product_info *info, enum product product, int major,
                         int minor)
{
    return info->product == product &&
           (info->major > major || (info->major == major && info->minor >= minor));
}

/* Keeps documents out of error reasons; OpenSearch and older versions refuse the parameter. */
const char *product_bulk_query(const struct product_info *info)
{
    return product_is_at_least(info, PRODUCT_ELASTICSEARCH, 8, 18)
               ? "&include_source_on_error=false"
               : "";
}

static enum product product_of_header(const struct http_answer *answer)
{
    if (strstr(answer->product_header, "Elasticsearch") != NULL) {
        return PRODUCT_ELASTICSEARCH;
    }
    return strstr(answer->product_header, "OpenSearch") != NULL ? PRODUCT_OPENSEARCH
                                                                : PRODUCT_UNKNOWN;
}

/* OpenSearch may hide its distribution and report version 7.10.2, but its tagline remains.
 * Elasticsearch before 7.14 has no product header either, only its tagline. */
static enum product product_of_body(struct json_object *tree, struct json_object *version)
{
    const char *tagline = json_tree_text(tree, "tagline");
    if (strcmp(json_tree_text(version, "distribution"), "opensearch") == 0 ||
        strstr(tagline, "OpenSearch") != NULL) {
        return PRODUCT_OPENSEARCH;
    }
    return strcmp(tagline, "You Know, for Search") == 0 ? PRODUCT_ELASTICSEARCH : PRODUCT_UNKNOWN;
}

/* Copies the valid prefix of a version number, because it is printed as it is. */
static void product_read_version(struct product_info *out, const char *number)
{
    static const char of_versions[] = "0123456789.+-_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "abcdefghijklmnopqrstuvwxyz";
    size_t n = text_cut(number, strspn(number, of_versions), sizeof(out->version) - 1);
    memcpy(out->version, number, n);
    out->version[n] = '\0';
    char *dot = NULL;
    long major = strtol(out->version, &dot, 10);
    if (*dot == '.' && major > 0 && major < 1000) {
        out->major = (int)major;
        out->minor = (int)(strtol(dot + 1, NULL, 10) % 1000);
    }
}

static int product_read_root(struct product_info *out, const struct http_answer *answer,
                             struct err *err)
{
    struct json_object *tree = NULL;
    int rc = body_expect(&tree, answer, BODY_ROOT, "GET", "/", err);
    if (rc != 0) {
        return rc;
    }
    struct json_object *version = json_tree_member(tree, "version");
    out->permitted = true;
    body_copy(out->cluster, sizeof(out->cluster), json_tree_text(tree, "cluster_uuid"));
    out->stand_in = strcmp(json_tree_text(version, "build_type"), "devsearch") == 0;
    out->product = product_of_header(answer);
    if (out->product == PRODUCT_UNKNOWN) {
        out->product = product_of_body(tree, version);
    }
    /* the version number of serverless does not describe its features */
    if (strcmp(json_tree_text(version, "build_flavor"), "serverless") != 0) {
        product_read_version(out, json_tree_text(version, "number"));
    }
    json_object_put(tree);
    return 0;
}

static void product_read_refusal(struct product_info *out, const struct http_answer *answer)
{
    out->product = product_of_header(answer);
    for (size_t i = 0; i < sizeof(telltales) / sizeof(telltales[0]); i++) {
        if (out->product == PRODUCT_UNKNOWN &&
            strstr(buf_text(&answer->body), telltales[i].words) != NULL) {
            out->product = telltales[i].product;
        }
    }
}

static int product_refuse_dashboards(const struct http_answer *answer, struct err *err)
{
    err_set(err, ERR_REJECTED, "GET / of %s: Kibana or OpenSearch Dashboards answers",
            answer->origin);
    return err_hint(err, "use the URL of the search service itself in service.url; its port is "
                         "often 9200, or 443 in a cloud");
}

/* Elasticsearch shows an API key in two forms; only one of them is taken in a request. */
static int product_refuse_key(const struct service *s, struct err *err)
{
    const char *key = s->secrets[SERVICE_API_KEY];
    return key != NULL && strchr(key, ':') != NULL
               ? err_hint(err, "service.auth.api_key has the form id:api_key; use the member "
                               "\"encoded\" of the answer that created the key")
               : (int)err->class;
}

int product_detect(struct service *s, struct product_info *out, struct err *err)
{
    struct http_answer answer;
    *out = (struct product_info){0};
    int rc = http_request(s, "GET", "/", span_make(NULL, 0), &answer, err);
    if (rc != 0) {
        return rc;
    }
    if (answer.dashboards) {
        rc = product_refuse_dashboards(&answer, err);
    } else if (answer.status == 200) {
        rc = product_read_root(out, &answer, err);
    } else if (answer.status == 403) {
        product_read_refusal(out, &answer);
    } else {
        rc = http_refuse(&answer, "GET", "/", err);
        rc = answer.status == 401 ? product_refuse_key(s, err) : rc;
    }
    http_answer_release(&answer);
    if (rc == 0) {
        s->product = *out;
    }
    return rc;
}
