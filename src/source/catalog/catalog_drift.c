/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a table with the definition that an index was built from. */
#include <string.h>

#include "rowferry/source/catalog/catalog.h"
#include "sql/mentions.h"

#define LABEL " label "

/* A line of a definition is "number type modifier name". Returns the name, and its length up to the
 * end of the line. */
static const char *catalog_drift_line_name(const char *line, size_t *name_len)
{
    const char *name = line;
    for (int blanks = 0; blanks < 3 && *name != '\0'; name++) {
        blanks += *name == ' ';
    }
    *name_len = strcspn(name, "\n");
    return name;
}

/* Returns the column's line in a definition, or null. */
static const char *catalog_drift_column_line(const char *definition, struct span column,
                                             size_t *len)
{
    while (*definition != '\0') {
        size_t name_len = 0;
        const char *name = catalog_drift_line_name(definition, &name_len);
        if (span_equal(span_make(name, name_len), column)) {
            *len = (size_t)(name + name_len - definition);
            return definition;
        }
        definition = name + name_len + (name[name_len] != '\0');
    }
    return NULL;
}

static int catalog_drift_of_column(const struct table *t, const char *was, const char *is,
                                   const char *column, struct err *err)
{
    size_t was_len = 0;
    size_t is_len = 0;
    const struct span name = span_make(column, strlen(column));
    const char *was_line = catalog_drift_column_line(was, name, &was_len);
    const char *is_line = catalog_drift_column_line(is, name, &is_len);
    if (was_line != NULL && is_line != NULL && was_len == is_len &&
        memcmp(was_line, is_line, is_len) == 0) {
        return 0;
    }
    err_set(err, ERR_STATE, "table definition changed: column \"%s\" of %s %s", column, t->quoted,
            is_line == NULL ? "is gone" : "has another type or was re-created");
    err_hint(err, "check the mapping, then rebuild the index: rowferry reindex " ERR_PIPELINE);
    return err_drift(err);
}

static int catalog_drift_refuse_read(const struct table *t, struct span name, const char *what,
                                     struct err *err)
{
    err_set(
        err, ERR_STATE,
        "table definition changed: column \"%.*s\" of %s, which from.query or from.where reads, "
        "%s",
        (int)name.len, name.data, t->quoted, what);
    err_hint(err,
             "check what they read now, then rebuild the index: rowferry reindex " ERR_PIPELINE);
    return err_drift(err);
}

/* Compares number and type. The modifier does not matter to a statement that reads the column. */
static bool catalog_drift_same_column(const char *line, const char *other)
{
    size_t len = strcspn(line, " ");
    len += 1 + strcspn(line + len + 1, " ");
    return strncmp(line, other, len + 1) == 0;
}

/* A name that follows its table's name cannot change its meaning if a column is added or dropped:
 * the server would refuse the query. So such a column counts only if `*` reads it. */
static int catalog_drift_of_read(const struct table *t, const struct drift *d, bool gone,
                                 struct err *err)
{
    size_t len;
    const char *one = gone ? d->was : d->is;
    const char *other = gone ? d->is : d->was;
    for (const char *line = one; *line != '\0' && *line != ' ' && *line != '\n';) {
        struct span name;
        name.data = catalog_drift_line_name(line, &name.len);
        bool read = d->whole_rows || mentions_name(d->read, name);
        const char *there = read ? catalog_drift_column_line(other, name, &len) : NULL;
        read = read && catalog_drift_column_line(one, name, &len) == line; /* not a duplicate */
        if (read && there == NULL &&
            (d->whole_rows || mentions_bare(d->read, name) || (gone && d->read->star))) {
            return catalog_drift_refuse_read(t, name, gone ? "is gone" : "is new", err);
        }
        if (read && there != NULL && !catalog_drift_same_column(line, there)) {
            return catalog_drift_refuse_read(t, name, "was replaced, or has another type", err);
        }
        line = name.data + name.len + (name.data[name.len] != '\0');
    }
    return 0;
}

/* Returns true if a definition contains the whole line, which begins with a blank. */
static bool catalog_drift_text_has_line(const char *definition, const char *line, size_t len)
{
    for (const char *at = strstr(definition, "\n "); at != NULL; at = strstr(at + 1, "\n ")) {
        if (strncmp(at + 1, line, len) == 0 && (at[len + 1] == '\n' || at[len + 1] == '\0')) {
            return true;
        }
    }
    return false;
}

/* Returns true if a definition contains a line of the type at the end of this line. */
static bool catalog_drift_has_type(const char *definition, const char *line, size_t len)
{
    size_t oid = 0;
    while (oid < len && line[len - oid - 1] != ' ') {
        oid++;
    }
    for (const char *at = strstr(definition, "\n "); at != NULL; at = strstr(at + 1, "\n ")) {
        size_t there = strcspn(at + 1, "\n");
        if (there > oid && memcmp(at + 1 + there - oid - 1, line + len - oid - 1, oid + 1) == 0) {
            return true;
        }
    }
    return false;
}

static int catalog_drift_refuse_type(const struct table *t, const char *line, bool gone,
                                     struct err *err)
{
    bool label = strncmp(line, LABEL, strlen(LABEL)) == 0;
    const char *name = line + strlen(LABEL); /* "field" is as long */
    size_t len = 1 + strcspn(name + 1, "\"\n");
    err_set(err, ERR_STATE, "table definition changed: %s %.*s\" in the types of %s %s",
            label ? "label" : "field", (int)len, name, t->quoted,
            label  ? "was renamed"
            : gone ? "is gone or has another type"
                   : "is new or has another type");
    err_hint(err, "check the mapping, then rebuild the index: rowferry reindex " ERR_PIPELINE);
    return err_drift(err);
}

/* Each field or label of one definition must be in the other, unless its whole type is missing
 * there. A new label is not drift. */
static int catalog_drift_of_types(const struct table *t, const char *one, const char *other,
                                  bool gone, struct err *err)
{
    for (const char *at = strstr(one, "\n "); at != NULL; at = strstr(at + 1, "\n ")) {
        const char *line = at + 1;
        size_t len = strcspn(line, "\n");
        bool label = strncmp(line, LABEL, strlen(LABEL)) == 0;
        if ((gone || !label) && catalog_drift_has_type(other, line, len) &&
            !catalog_drift_text_has_line(other, line, len)) {
            return catalog_drift_refuse_type(t, line, gone, err);
        }
    }
    return 0;
}

int catalog_drift(const struct table *t, const struct drift *d, struct err *err)
{
    int rc = 0;
    if (strcmp(d->was, d->is) == 0) {
        return 0;
    }
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        rc = catalog_drift_of_column(t, d->was, d->is, t->key[i], err);
    }
    for (size_t i = 0; i < d->column_count && rc == 0; i++) {
        rc = catalog_drift_of_column(t, d->was, d->is, d->columns[i], err);
    }
    if (rc == 0 && d->read != NULL) {
        rc = catalog_drift_of_read(t, d, true, err);
    }
    if (rc == 0 && d->read != NULL) {
        rc = catalog_drift_of_read(t, d, false, err);
    }
    if (rc == 0) {
        rc = catalog_drift_of_types(t, d->was, d->is, true, err);
    }
    return rc == 0 ? catalog_drift_of_types(t, d->is, d->was, false, err) : rc;
}
