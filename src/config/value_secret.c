/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the origin of a secret; a literal secret is refused. */
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/json/json_tree.h"
#include "secret.h"

#define ORIGINS "env, file, command, prompt, credential"
#define MAX_PATH_BYTES 65536

static int value_secret_literal_refused(const struct config_reader *r, const char *path)
{
    read_fail(r, path, SCAN_VALUE,
              "\"%s\" must be one of " ORIGINS "; a secret in the file is refused", path);
    return err_hint(r->err, "write it like { \"env\": \"NAME\" } or { \"file\": \"/path\" }");
}

static enum secret_origin value_secret_origin_of(const char *key)
{
    static const char *const names[] = {
        [SECRET_NONE] = "",
        [SECRET_ENV] = "env",
        [SECRET_FILE] = "file",
        [SECRET_COMMAND] = "command",
        [SECRET_PROMPT] = "prompt",
        [SECRET_CREDENTIAL] = "credential",
        [SECRET_RDS_IAM] = "aws_rds_iam",
    };
    for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], key) == 0) {
            return (enum secret_origin)i;
        }
    }
    return SECRET_NONE;
}

static int value_secret_check_place(const struct config_reader *r, const char *path,
                                    const struct secret *secret)
{
    if (*secret->place == '\0') {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" is empty", path);
    }
    if (secret->origin == SECRET_CREDENTIAL && strchr(secret->place, '/') != NULL) {
        return read_fail(r, path, SCAN_VALUE, "\"%s\" is a path; a credential's name is expected",
                         path);
    }
    return 0;
}

static int value_secret_read_place(struct config_reader *r, const char *path,
                                   struct json_object *value, struct secret *out)
{
    bool bare = out->origin == SECRET_PROMPT || out->origin == SECRET_RDS_IAM;
    if (bare && json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value)) {
        out->place = text_copy("");
        return 0;
    }
    int result = value_text(r, path, value, &out->place);
    if (result == 0) {
        result = value_secret_check_place(r, path, out);
    }
    if (result == 0 && out->origin == SECRET_FILE) {
        char *place = value_beside(r->file, out->place);
        free(out->place);
        out->place = place;
    }
    return result;
}

static int value_secret_read_origin(struct config_reader *r, const char *path, const char *name,
                                    struct json_object *value, struct secret *out)
{
    out->origin = value_secret_origin_of(name);
    if (out->origin == SECRET_NONE) {
        return read_fail(r, path, SCAN_VALUE,
                         "\"%s\" has an unknown member \"%s\": one of " ORIGINS " is expected",
                         path, name);
    }
    if (out->origin == SECRET_RDS_IAM && strcmp(path, "source.password") != 0) {
        return read_fail(r, path, SCAN_VALUE, "\"%s.%s\" is only for source.password", path, name);
    }
    struct buf member;
    buf_init(&member, MAX_PATH_BYTES);
    buf_printf(&member, "%s.%s", path, name);
    int result = value_secret_read_place(r, buf_text(&member), value, out);
    buf_release(&member);
    return result;
}

/* Only PostgreSQL is told a secret once per connection. */
static int value_secret_read_fresh(struct config_reader *r, const char *path,
                                   struct json_object *value, struct secret *out)
{
    if (!json_object_is_type(value, json_type_boolean)) {
        return read_fail(r, path, SCAN_VALUE, "\"%s.fresh\" must be true or false", path);
    }
    out->fresh = json_object_get_boolean(value);
    if (out->fresh && !(secret_can_change(out->origin) && strcmp(path, "source.password") == 0)) {
        return read_fail(r, path, SCAN_VALUE,
                         "\"%s.fresh\" is only for source.password by file, command or credential",
                         path);
    }
    return 0;
}

int value_secret(struct config_reader *r, const char *path, struct json_object *value,
                 struct secret *out)
{
    int result = 0;
    size_t origins = 0;
    struct json_object *fresh = NULL;
    struct json_members m = json_tree_members(value);
    while (result == 0 && json_tree_next(&m)) {
        if (strcmp(m.name, "fresh") == 0) {
            fresh = m.value;
        } else if (++origins > 1) {
            return value_secret_literal_refused(r, path);
        } else {
            result = value_secret_read_origin(r, path, m.name, m.value, out);
        }
    }
    if (result == 0 && origins == 0) {
        return value_secret_literal_refused(r, path);
    }
    return result == 0 && fresh != NULL ? value_secret_read_fresh(r, path, fresh, out) : result;
}
