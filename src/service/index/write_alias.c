/* SPDX-License-Identifier: Apache-2.0 */
/* Write alias of a generation: adds it if it is missing, refuses if it belongs to another index. */
#include <stdio.h>
#include <string.h>

#include "http/ask.h"
#include "index/index_private.h"
#include "rowferry/service/cluster/cluster.h"

#define WANTED                                                                                     \
    "*.aliases,*.settings.index.uuid,*.mappings._meta.rowferry.pipeline,"                          \
    "*.mappings._meta.rowferry.creator,*.mappings._meta.rowferry.place"

#define FORMER_MOST 8 /* of one request; the next start removes the others */

void write_alias_of(char out[INDEX_WRITE_ALIAS_BYTES], const char *name, const char *creator)
{
    size_t digits = strspn(creator, "0123456789abcdef");
    snprintf(out, INDEX_WRITE_ALIAS_BYTES, "%s-WRITE%s%.*s", name, digits > 0 ? "-" : "",
             (int)digits, creator);
}

/* Fetches the index and all indices with a write alias of its name. */
static int write_alias_ask_who(struct service *s, const char *name, struct json_object **tree,
                               struct err *err)
{
    struct buf path;
    ask_path(&path, name, ",");
    text_percent(&path, name, strlen(name));
    buf_push_literal(&path, "-WRITE*?expand_wildcards=all&filter_path=" WANTED);
    int rc = ask(s, "GET", buf_text(&path), NO_BODY, BODY_INDEX, tree, err);
    buf_release(&path);
    return rc;
}

static int write_alias_expect_same(struct json_object *found, const struct generation_id *g,
                                   struct index_info *info, struct err *err)
{
    if (found == NULL) {
        return err_set(err, ERR_STATE, "index \"%s\" is gone", g->name);
    }
    index_info_read(info, g->name, found);
    return index_expect_same(info, g, "index", err);
}

static int write_alias_expect_alone(struct json_object *tree, const char *name, const char *alias,
                                    struct err *err)
{
    for (struct json_members other = json_tree_members(tree); json_tree_next(&other);) {
        const char *const keys[] = {"aliases", alias, NULL};
        if (strcmp(other.name, name) == 0 || json_tree_at(other.value, keys) == NULL) {
            continue;
        }
        err_set(err, ERR_STATE,
                "alias \"%s\", by which index \"%s\" is written, points at index \"%s\"", alias,
                name, other.name);
        return err_hint(err,
                        "nothing was changed; remove the alias from index \"%s\" and try again",
                        other.name);
    }
    return 0;
}

/* Returns false if the alias has a filter, a routing or is_write_index: we set none of them. */
static bool write_alias_is_plain(struct json_object *description, const char *alias)
{
    struct json_object *given =
        json_tree_at(description, (const char *const[]){"aliases", alias, NULL});
    return json_tree_is_object(given) && json_tree_count(given) == 0;
}

/* Returns the first alias of an index other than its write alias, or null. */
static const char *write_alias_shown_by(struct json_object *description, const char *name)
{
    char own[INDEX_WRITE_ALIAS_BYTES];
    struct index_info info;
    index_info_read(&info, name, description);
    write_alias_of(own, name, info.creator);
    struct json_members aliases = json_tree_members(json_tree_member(description, "aliases"));
    while (json_tree_next(&aliases)) {
        if (strcmp(aliases.name, own) != 0) {
            return aliases.name;
        }
    }
    return NULL;
}

int write_alias_expect_hidden(struct service *s, const char *name, const char *pipeline,
                              struct err *err)
{
    struct json_object *tree = NULL;
    struct cluster_template template;
    struct err unseen;
    int rc = ask_description(s, name, &tree, err);
    struct json_object *found = json_tree_member(tree, name);
    const char *alias = found != NULL ? write_alias_shown_by(found, name) : NULL;
    if (rc == 0 && alias != NULL) {
        bool named = cluster_template(s, name, &template, &unseen) == 0 && template.name[0] != '\0';
        rc = index_delete(s, name, pipeline, err);
        if (rc == 0) {
            rc = err_set(err, ERR_REJECTED,
                         "an index template%s%s%s gives the new index \"%s\" the alias \"%s\", so "
                         "searches would see it half-filled",
                         named ? " (\"" : "", named ? template.name : "", named ? "\")" : "", name,
                         alias);
            err_hint(err,
                     "remove the alias from the template, or exclude the names \"%.*s*\" from its "
                     "index_patterns; the new index was deleted",
                     (int)(strrchr(name, '-') != NULL ? strrchr(name, '-') - name : 0), name);
        }
    }
    json_object_put(tree);
    return rc;
}

/* Write aliases of former creators; they belong to writers that were replaced. */
struct former_aliases {
    char names[FORMER_MOST][INDEX_WRITE_ALIAS_BYTES];
    size_t count;
};

static void write_alias_find_former(struct json_object *description, const char *name,
                                    const char *own, struct former_aliases *out)
{
    char plain[INDEX_WRITE_ALIAS_BYTES];
    write_alias_of(plain, name, "");
    struct json_members aliases = json_tree_members(json_tree_member(description, "aliases"));
    while (json_tree_next(&aliases) && out->count < FORMER_MOST) {
        if (strncmp(aliases.name, plain, strlen(plain)) == 0 && strcmp(aliases.name, own) != 0) {
            snprintf(out->names[out->count++], INDEX_WRITE_ALIAS_BYTES, "%s", aliases.name);
        }
    }
}

static int write_alias_look_all(struct service *s, const struct generation_id *generation,
                                char alias[INDEX_WRITE_ALIAS_BYTES], bool *given,
                                struct former_aliases *former, struct err *err)
{
    struct json_object *tree = NULL;
    struct index_info info;
    const char *name = generation->name;
    alias[0] = '\0';
    int rc = index_name_check(name, err);
    if (rc == 0) {
        rc = write_alias_ask_who(s, name, &tree, err);
    }
    struct json_object *found = json_tree_member(tree, name);
    if (rc == 0) {
        rc = write_alias_expect_same(found, generation, &info, err);
    }
    if (rc == 0) {
        write_alias_of(alias, name, info.creator);
        rc = write_alias_expect_alone(tree, name, alias, err);
    }
    *given = rc == 0 && write_alias_is_plain(found, alias);
    if (rc == 0) {
        write_alias_find_former(found, name, alias, former);
    }
    json_object_put(tree);
    return rc;
}

int write_alias_look(struct service *s, const struct generation_id *generation,
                     char alias[INDEX_WRITE_ALIAS_BYTES], bool *given, struct err *err)
{
    struct former_aliases former = {.count = 0};
    return write_alias_look_all(s, generation, alias, given, &former, err);
}

int write_alias_open(struct service *s, const struct generation_id *generation,
                     char alias[INDEX_WRITE_ALIAS_BYTES], struct err *err)
{
    bool given;
    struct former_aliases former = {.count = 0};
    int rc = write_alias_look_all(s, generation, alias, &given, &former, err);
    struct index_action actions[FORMER_MOST + 1] = {{"add", generation->name, alias, ""}};
    for (size_t i = 0; i < former.count; i++) {
        actions[i + 1] = (struct index_action){"remove", generation->name, former.names[i], ""};
    }
    return rc == 0 && (!given || former.count > 0)
               ? index_change_aliases(s, actions, former.count + 1, alias, err)
               : rc;
}
