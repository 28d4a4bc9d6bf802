/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the temporary indices of trials that were killed. */
#include "rowferry/service/trial/leftovers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/ask.h"
#include "http/wire.h"
#include "rowferry/base/buf.h"
#include "rowferry/service/index/index.h"

#define PATH_MAX_BYTES 4096
#define RANDOM_DIGITS 8
#define SMOKE_MARK "smoke" /* what smoke's mark begins with */

static const char *const purposes[] = {"smoke", "validate", "check"};

#define PURPOSES (sizeof(purposes) / sizeof(purposes[0]))

/* Returns true if the name is `<alias>-<purpose>-<8 hexadecimal digits>`. */
static bool leftovers_is_named(const char *name, const char *alias)
{
    size_t len = strlen(alias);
    if (strncmp(name, alias, len) != 0 || name[len] != '-') {
        return false;
    }
    for (size_t i = 0; i < PURPOSES; i++) {
        const char *rest = name + len + 1;
        size_t purpose = strlen(purposes[i]);
        if (strncmp(rest, purposes[i], purpose) == 0 && rest[purpose] == '-') {
            rest += purpose + 1;
            return strspn(rest, "0123456789abcdef") == RANDOM_DIGITS && rest[RANDOM_DIGITS] == '\0';
        }
    }
    return false;
}

/* A trial has no alias but the one that it writes by, which begins with the index's name. */
static bool leftovers_has_alias(const char *name, struct json_object *index)
{
    bool has = false;
    for (struct json_members m = json_tree_members(json_tree_member(index, "aliases"));
         json_tree_next(&m);) {
        has = has || strncmp(m.name, name, strlen(name)) != 0;
    }
    return has;
}

/* Whoever copies a mapping copies our mark, but the mark has the digits of the name. smoke's mark
 * has no pipeline: its index belongs to the alias. */
static bool leftovers_is_marked(const char *name, struct json_object *index, const char *pipeline)
{
    struct json_object *mark =
        json_tree_at(index, (const char *const[]){"mappings", "_meta", "rowferry", NULL});
    const char *digits = name + strlen(name) - RANDOM_DIGITS;
    const char *smoke = json_tree_text(mark, "smoke");
    bool by_smoke = strncmp(smoke, SMOKE_MARK, strlen(SMOKE_MARK)) == 0 &&
                    strncmp(smoke + strlen(SMOKE_MARK), digits, RANDOM_DIGITS) == 0;
    bool by_trial = json_object_get_boolean(json_tree_member(mark, "trial")) &&
                    strcmp(json_tree_text(mark, "pipeline"), pipeline) == 0 &&
                    strncmp(json_tree_text(mark, "creator"), digits, RANDOM_DIGITS) == 0;
    return (by_smoke || by_trial) && !leftovers_has_alias(name, index);
}

static int64_t leftovers_age_s(struct json_object *index, int64_t wall_us)
{
    struct json_object *settings =
        json_tree_at(index, (const char *const[]){"settings", "index", NULL});
    int64_t made_ms = strtoll(json_tree_text(settings, "creation_date"), NULL, 10);
    int64_t age_s = wall_us / 1000000 - made_ms / 1000;
    return made_ms > 0 && age_s > 0 ? age_s : 0;
}

static void leftovers_push_path(struct buf *path, const char *alias)
{
    buf_init(path, PATH_MAX_BYTES);
    for (size_t i = 0; i < PURPOSES; i++) {
        buf_push_text(path, i == 0 ? "/" : ",");
        text_percent(path, alias, strlen(alias));
        buf_printf(path, "-%s-*", purposes[i]);
    }
    buf_push_literal(path, "?expand_wildcards=all&filter_path=*.mappings._meta.rowferry,"
                           "*.aliases,*.settings.index.creation_date");
}

int leftovers_list(struct service *s, const char *alias, const char *pipeline, int64_t wall_us,
                   struct leftover out[LEFTOVERS_MOST], size_t *count, struct err *err)
{
    struct json_object *tree = NULL;
    struct buf path;
    *count = 0;
    leftovers_push_path(&path, alias);
    int rc = ask(s, "GET", buf_text(&path), NO_BODY, BODY_CLUSTER, &tree, err);
    for (struct json_members m = json_tree_members(tree); rc == 0 && json_tree_next(&m);) {
        struct leftover *l = &out[*count];
        if (*count < LEFTOVERS_MOST && leftovers_is_named(m.name, alias) &&
            leftovers_is_marked(m.name, m.value, pipeline)) {
            snprintf(l->index, sizeof(l->index), "%s", m.name);
            l->age_s = leftovers_age_s(m.value, wall_us);
            (*count)++;
        }
    }
    json_object_put(tree);
    buf_release(&path);
    return rc;
}

int leftovers_remove(struct service *s, const struct leftover *l, struct err *err)
{
    return ask_of(s, "DELETE", l->index, "", NO_BODY, BODY_ACKNOWLEDGED, NULL, err);
}
