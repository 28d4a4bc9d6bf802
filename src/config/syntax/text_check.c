/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of single texts other than addresses. */
#include "syntax/text_check.h"

#include <string.h>

#include "rowferry/document/mapping/mapping.h"
#include "rowferry/source/sql/tablename.h"

#define NAME_MAX_BYTES 40

int text_check_name(const char *value, struct err *err)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t len = strlen(value);
    if (value[strspn(value, allowed)] != '\0') {
        return err_set(err, ERR_CONFIG, "a name has letters, digits, - and _ only");
    }
    if (len > NAME_MAX_BYTES) {
        return err_set(err, ERR_CONFIG, "a name has at most %d characters", NAME_MAX_BYTES);
    }
    return 0;
}

int text_check_mapping(const char *json, struct err *err)
{
    struct mapping mapping;
    int result = mapping_parse(&mapping, json, err);
    if (result == 0) {
        mapping_release(&mapping);
    }
    return result;
}

int text_check_zone(const char *value, struct err *err)
{
    const char *city = strchr(value, '/');
    if (strcmp(value, "UTC") == 0 || (city != NULL && city > value && city[1] != '\0')) {
        return 0;
    }
    err_set(err, ERR_CONFIG, "\"%s\" is not the full name of a time zone", value);
    return err_hint(err, "write it like \"Europe/Berlin\", or \"UTC\"");
}

int text_check_table(const char *value, struct err *err)
{
    struct tablename name;
    int result = tablename_parse(&name, value, err);
    tablename_release(&name);
    return result;
}
