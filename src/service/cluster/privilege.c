/* SPDX-License-Identifier: Apache-2.0 */
/* Privileges: the printed role, and Elasticsearch's report about the account. */
#include "rowferry/service/cluster/privilege.h"

#include <stdio.h>
#include <string.h>

#include "cluster/privilege_probe.h"
#include "http/ask.h"
#include "http/service.h"

#define LIST_MAX_BYTES ((size_t)64 * 1024)

/* --- required privileges --------------------------------------------------------------------- */

/* manage includes create_index, delete_index, monitor, maintenance and view_index_metadata. */
static const char *const elastic_needs[] = {"read", "index", "delete", "manage", NULL};

static void privilege_push_names(struct buf *out, const char *alias)
{
    struct buf all;
    buf_init(&all, LIST_MAX_BYTES);
    buf_printf(&all, "%s-*", alias);
    buf_push_char(out, '[');
    text_json(out, alias, strlen(alias));
    buf_push_char(out, ',');
    text_json(out, buf_text(&all), all.len);
    buf_push_char(out, ']');
    buf_release(&all);
}

static void privilege_push_list(struct buf *out, const char *const *words)
{
    buf_push_char(out, '[');
    for (size_t i = 0; words[i] != NULL; i++) {
        buf_printf(out, "%s\"%s\"", i > 0 ? "," : "", words[i]);
    }
    buf_push_char(out, ']');
}

static void privilege_push_open_search(struct buf *out, const char *alias)
{
    buf_printf(out,
               "PUT /_plugins/_security/api/roles/rowferry-%s {\"cluster_permissions\":", alias);
    privilege_push_list(out, privilege_cluster_needs);
    buf_push_literal(out, ",\"index_permissions\":[{\"index_patterns\":");
    privilege_push_names(out, alias);
    buf_push_literal(out, ",\"allowed_actions\":");
    privilege_push_list(out, privilege_index_needs);
    buf_push_literal(out, "}]}");
}

static void privilege_push_descriptor(struct buf *out, const char *alias)
{
    buf_push_literal(out, "{\"indices\":[{\"names\":");
    privilege_push_names(out, alias);
    buf_push_literal(out, ",\"privileges\":");
    privilege_push_list(out, elastic_needs);
    buf_push_literal(out, "}]}");
}

void privilege_push_grant(struct buf *out, enum product product, bool key, const char *alias)
{
    if (product == PRODUCT_OPENSEARCH) {
        privilege_push_open_search(out, alias);
    } else if (key) {
        buf_printf(out,
                   "POST /_security/api_key {\"name\":\"rowferry-%s\",\"role_descriptors\":{"
                   "\"rowferry-%s\":",
                   alias, alias);
        privilege_push_descriptor(out, alias);
        buf_push_literal(out, "}}");
    } else {
        buf_printf(out, "PUT /_security/role/rowferry-%s ", alias);
        privilege_push_descriptor(out, alias);
    }
}

/* --- Elasticsearch ---------------------------------------------------------------------------- */

static void privilege_push_word(struct buf *list, const char *word, const char *on)
{
    buf_printf(list, "%s%s", list->len > 0 ? ", " : "", word);
    if (on != NULL) {
        buf_printf(list, " on \"%s\"", on);
    }
}

static int privilege_has_privileges(struct service *s, const struct buf *body,
                                    struct json_object **tree, struct err *err)
{
    return ask(s, "POST", "/_security/user/_has_privileges", span_make(body->data, body->len),
               BODY_PRIVILEGES, tree, err);
}

/* Appends "read, manage on "a"": the privileges missing for this name. */
static void privilege_push_lacking(struct buf *missing, struct json_object *tree, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; elastic_needs[i] != NULL; i++) {
        const char *const keys[] = {"index", name, elastic_needs[i], NULL};
        if (!json_object_get_boolean(json_tree_at(tree, keys))) {
            buf_printf(missing, "%s%s",
                       count > 0          ? ", "
                       : missing->len > 0 ? "; "
                                          : "",
                       elastic_needs[i]);
            count++;
        }
    }
    if (count > 0) {
        buf_printf(missing, " on \"%s\"", name);
    }
}

static int privilege_elastic_missing(struct service *s, const char *alias, struct buf *missing,
                                     bool *told, struct err *err)
{
    struct buf body;
    struct buf all;
    struct json_object *tree = NULL;
    buf_init(&body, LIST_MAX_BYTES);
    buf_init(&all, LIST_MAX_BYTES);
    buf_printf(&all, "%s-*", alias);
    buf_push_literal(&body, "{\"index\":[{\"names\":");
    privilege_push_names(&body, alias);
    buf_push_literal(&body, ",\"privileges\":");
    privilege_push_list(&body, elastic_needs);
    buf_push_literal(&body, "}]}");
    int rc = privilege_has_privileges(s, &body, &tree, err);
    *told = rc == 0;
    if (rc == 0) {
        privilege_push_lacking(missing, tree, alias);
        privilege_push_lacking(missing, tree, buf_text(&all));
    }
    json_object_put(tree);
    buf_release(&body);
    buf_release(&all);
    return rc == ERR_REJECTED ? 0 : rc;
}

static const char *const broad_cluster[] = {"manage_security", "manage", "manage_index_templates",
                                            "manage_ingest_pipelines", NULL};
static const char *const broad_index[] = {"read", "write", "delete_index", "manage", NULL};

static void privilege_read_breadth(struct account *out, struct json_object *tree)
{
    const char *const all[] = {"cluster", "all", NULL};
    if (json_object_get_boolean(json_tree_at(tree, all))) {
        snprintf(out->administrator, sizeof(out->administrator), "cluster privilege all");
    }
    for (size_t i = 0; broad_cluster[i] != NULL; i++) {
        const char *const keys[] = {"cluster", broad_cluster[i], NULL};
        if (json_object_get_boolean(json_tree_at(tree, keys))) {
            privilege_push_word(&out->surplus, broad_cluster[i], NULL);
        }
    }
    for (size_t i = 0; broad_index[i] != NULL; i++) {
        const char *const keys[] = {"index", "*", broad_index[i], NULL};
        if (json_object_get_boolean(json_tree_at(tree, keys))) {
            privilege_push_word(&out->surplus, broad_index[i], "*");
        }
    }
}

/* For an API key, uses the key's name: the user is its creator, who has other privileges. */
static void privilege_read_name(struct account *out, struct json_object *who)
{
    static const char *const keys[] = {"api_key", NULL};
    const char *key = json_tree_text(json_tree_at(who, keys), "name");
    snprintf(out->name, sizeof(out->name), "%s%s", key[0] != '\0' ? "API key " : "",
             key[0] != '\0' ? key : json_tree_text(who, "username"));
}

static int privilege_elastic_account(struct service *s, struct account *out, struct err *err)
{
    struct buf body;
    struct json_object *who = NULL;
    struct json_object *tree = NULL;
    buf_init(&body, LIST_MAX_BYTES);
    buf_push_literal(&body, "{\"cluster\":[\"all\",\"manage_security\",\"manage\","
                            "\"manage_index_templates\",\"manage_ingest_pipelines\"],"
                            "\"index\":[{\"names\":[\"*\"],\"privileges\":");
    privilege_push_list(&body, broad_index);
    buf_push_literal(&body, "}]}");
    int rc = ask(s, "GET", "/_security/_authenticate", NO_BODY, BODY_ROOT, &who, err);
    if (rc == 0) {
        privilege_read_name(out, who);
        rc = privilege_has_privileges(s, &body, &tree, err);
    }
    if (rc == 0) {
        privilege_read_breadth(out, tree);
    }
    json_object_put(who);
    json_object_put(tree);
    buf_release(&body);
    return rc;
}

/* --- both products --------------------------------------------------------------------------- */

/* If the endpoint does not exist, the service has no accounts. */
static bool privilege_needs_no_question(const struct err *err)
{
    return (err->http_status == 400 || err->http_status == 404 || err->http_status == 405) &&
           err->service_reason == SERVICE_REASON_NO_SECURITY;
}

/* `beyond`: tries also what it may do beyond its pipelines. */
static int privilege_look(struct service *s, const struct product_info *product, bool beyond,
                          struct account *out, struct err *err)
{
    int rc = 0;
    *out = (struct account){.state = ACCOUNT_KNOWN};
    buf_init(&out->surplus, LIST_MAX_BYTES);
    if (product->product == PRODUCT_UNKNOWN) {
        out->state = ACCOUNT_UNSEEN;
        snprintf(out->why, sizeof(out->why), "the product is unknown");
        return 0;
    }
    rc = product->product == PRODUCT_OPENSEARCH ? privilege_probe_account(s, beyond, out, err)
                                                : privilege_elastic_account(s, out, err);
    if (rc == ERR_REJECTED) {
        out->state = privilege_needs_no_question(err) ? ACCOUNT_OPEN : ACCOUNT_UNSEEN;
        snprintf(out->why, sizeof(out->why), "%.*s", (int)sizeof(out->why) - 1, err->message);
        rc = 0;
    }
    return rc;
}

int privilege_account_look(struct service *s, const struct product_info *product,
                           struct account *out, struct err *err)
{
    return privilege_look(s, product, true, out, err);
}

int privilege_refuse_admin(struct service *s, const struct product_info *product, bool *accounts,
                           struct err *err)
{
    struct account a;
    int rc = privilege_look(s, product, false, &a, err);
    *accounts = rc < 0 || a.state != ACCOUNT_OPEN;
    if (rc == 0 && s->options.refuse_admin && a.administrator[0] != '\0') {
        err_set(err, ERR_REJECTED, "\"%s\" is an administrator (%s): it may change everything",
                a.name, a.administrator);
        rc = err_hint(err, "create an account for rowferry alone (docs/rights.md) and name it in "
                           "service.auth; or \"accept_admin\": true if this is intended");
    }
    privilege_account_release(&a);
    return rc;
}

void privilege_account_release(struct account *a)
{
    buf_release(&a->surplus);
}

int privilege_missing(struct service *s, const struct product_info *product, const char *alias,
                      struct buf *missing, bool *told, struct err *err)
{
    *told = false;
    switch (product->product) {
    case PRODUCT_OPENSEARCH:
        *told = true;
        return privilege_probe(s, alias, missing, err);
    case PRODUCT_ELASTICSEARCH:
        return privilege_elastic_missing(s, alias, missing, told, err);
    default:
        return 0;
    }
}
