/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one request about an impossible index for each action that a pipeline needs. */
#include "cluster/privilege_probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "http/ask.h"

#define NAME_BYTES 320
#define PATH_BYTES 1024
#define WORDS_BYTES 256

/* mget and bulk are checked at cluster level first, then per index. */
const char *const privilege_cluster_needs[] = {"indices:data/write/bulk", "indices:data/read/mget",
                                               NULL};
const char *const privilege_index_needs[] = {"read", "write", "manage", NULL};

/* {x} is replaced by the impossible name. The answer is 400 or 404 if the account has the
 * privilege. */
static const struct probe_row {
    const char *method;
    const char *path;
    const char *body; /* may be null */
} rows[] = {
    {"POST", "/_bulk",
     "{\"delete\":{\"_index\":\"{x}\",\"_id\":\"0\",\"if_seq_no\":9,\"if_primary_term\":9}}\n"},
    {"POST", "/_mget", "{\"docs\":[{\"_index\":\"{x}\",\"_id\":\"0\"}]}"},
    {"PUT", "/{x}", "{}"},
    {"GET", "/{x}", NULL},
    {"PUT", "/{x}/_mapping", "{\"properties\":{}}"},
    {"PUT", "/{x}/_settings", "{\"index\":{\"refresh_interval\":\"1s\"}}"},
    {"POST", "/_aliases", "{\"actions\":[{\"add\":{\"index\":\"{x}\",\"alias\":\"{x}-A\"}}]}"},
    {"POST", "/{x}/_refresh", NULL},
    {"GET", "/{x}/_stats/docs", NULL},
    {"POST", "/{x}/_search", "{}"},
    {"PUT", "/{x}/_doc/0?if_seq_no=9&if_primary_term=9", "{}"},
    {"DELETE", "/{x}/_doc/0?if_seq_no=9&if_primary_term=9", NULL},
    {"DELETE", "/{x}", NULL},
};

static void privilege_probe_fill(struct buf *out, const char *text, const char *name)
{
    for (const char *at; (at = strstr(text, "{x}")) != NULL; text = at + 3) {
        buf_push(out, text, (size_t)(at - text));
        buf_push_text(out, name);
    }
    buf_push_text(out, text);
}

/* Reads the action from "no permissions for [a, b] and User [.."; returns false if the answer is
 * different. */
static bool privilege_probe_refused(const struct http_answer *answer, char words[WORDS_BYTES])
{
    static const char before[] = "no permissions for [";
    const char *at = strstr(buf_text(&answer->body), before);
    if (at == NULL) {
        return false;
    }
    at += strlen(before);
    size_t len = strcspn(at, "]");
    snprintf(words, WORDS_BYTES, "%.*s", (int)(len < WORDS_BYTES ? len : WORDS_BYTES - 1), at);
    return true;
}

static int privilege_probe_try(struct service *s, const struct probe_row *row, const char *name,
                               char words[WORDS_BYTES], bool *no, struct err *err)
{
    struct buf path;
    struct buf body;
    struct http_answer answer;
    buf_init(&path, PATH_BYTES);
    buf_init(&body, PATH_BYTES);
    privilege_probe_fill(&path, row->path, name);
    if (row->body != NULL) {
        privilege_probe_fill(&body, row->body, name);
    }
    *no = false;
    int rc =
        http_request(s, row->method, buf_text(&path), span_make(body.data, body.len), &answer, err);
    if (rc == 0) {
        *no = privilege_probe_refused(&answer, words);
        http_answer_release(&answer);
    }
    buf_release(&path);
    buf_release(&body);
    return rc;
}

/* Formats a name that no index can have (upper case) and that is random, so no alias has it. */
static void privilege_probe_impossible(char out[NAME_BYTES], const char *alias)
{
    uint64_t chance = 0;
    if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance)) {
        chance = 0;
    }
    snprintf(out, NAME_BYTES, "%s-CHECK-%016" PRIX64, alias, chance);
}

static void privilege_probe_push_once(struct buf *list, const char *words)
{
    if (strstr(buf_text(list), words) == NULL) {
        buf_printf(list, "%s%s", list->len > 0 ? ", " : "", words);
    }
}

int privilege_probe(struct service *s, const char *alias, struct buf *missing, struct err *err)
{
    int rc = 0;
    char name[NAME_BYTES];
    privilege_probe_impossible(name, alias);
    for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool no;
        char words[WORDS_BYTES];
        rc = privilege_probe_try(s, &rows[i], name, words, &no, err);
        if (rc == 0 && no) {
            privilege_probe_push_once(missing, words);
        }
    }
    return rc;
}

static bool privilege_probe_has(struct json_object *list, const char *word)
{
    for (size_t i = 0; i < json_tree_length(list); i++) {
        const char *item = json_object_get_string(json_tree_item(list, i));
        if (item != NULL && strcmp(item, word) == 0) {
            return true;
        }
    }
    return false;
}

/* all_access is a role of every installation; admin is the backend role mapped to it. */
static void privilege_probe_read_roles(struct account *out, struct json_object *who)
{
    static const struct {
        const char *member;
        const char *role;
    } signs[] = {
        {"roles", "all_access"},
        {"roles", "security_manager"},
        {"roles", "security_rest_api_full_access"},
        {"backend_roles", "admin"},
    };
    snprintf(out->name, sizeof(out->name), "%s", json_tree_text(who, "user_name"));
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        const char *const keys[] = {signs[i].member, NULL};
        if (out->administrator[0] == '\0' &&
            privilege_probe_has(json_tree_at(who, keys), signs[i].role)) {
            snprintf(out->administrator, sizeof(out->administrator), "%s %s",
                     strcmp(signs[i].member, "roles") == 0 ? "role" : "backend role",
                     signs[i].role);
        }
    }
}

/* Probes an index that is unrelated to any pipeline. */
static int privilege_probe_look_beyond(struct service *s, struct account *out, struct err *err)
{
    static const struct {
        struct probe_row row;
        const char *words;
    } reaches[] = {
        {{"POST", "/{x}/_search", "{}"}, "search any index"},
        {{"PUT", "/{x}", "{}"}, "create any index"},
        {{"DELETE", "/{x}", NULL}, "delete any index"},
    };
    int rc = 0;
    char name[NAME_BYTES];
    privilege_probe_impossible(name, "no-index-of-anybody");
    for (size_t i = 0; rc == 0 && i < sizeof(reaches) / sizeof(reaches[0]); i++) {
        bool no;
        char words[WORDS_BYTES];
        rc = privilege_probe_try(s, &reaches[i].row, name, words, &no, err);
        if (rc == 0 && !no) {
            privilege_probe_push_once(&out->surplus, reaches[i].words);
        }
    }
    return rc;
}

int privilege_probe_account(struct service *s, bool beyond, struct account *out, struct err *err)
{
    struct json_object *who = NULL;
    int rc = ask(s, "GET", "/_plugins/_security/authinfo", NO_BODY, BODY_ROOT, &who, err);
    if (rc == 0) {
        privilege_probe_read_roles(out, who);
        rc = beyond ? privilege_probe_look_beyond(s, out, err) : 0;
    }
    json_object_put(who);
    return rc;
}
