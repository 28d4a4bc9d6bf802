/* SPDX-License-Identifier: Apache-2.0 */
/* Runs searches by meaning, and combinations of searches, that the configuration has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

bool validate_is_semantic_type(const char *type)
{
    return strcmp(type, "semantic_text") == 0 || strcmp(type, "semantic") == 0;
}

/* Looks for a use of `field`, or for any semantic use if it is null. */
struct semantic_use {
    const struct validating *v;
    const char *field;
    bool found;
};

static void validate_semantic_look(void *context, enum field_use use, const char *field)
{
    struct semantic_use *s = context;
    if (s->found || s->field != NULL) {
        s->found = s->found || strcmp(s->field, field) == 0;
        return;
    }
    char *type = validate_field_type(s->v, field);
    s->found = use == USE_SEMANTIC || (type != NULL && validate_is_semantic_type(type));
    free(type);
}

static bool validate_semantic_uses(const struct validating *v, size_t i, const char *field)
{
    struct semantic_use s = {v, field, false};
    if (v->options->queries[i].body != NULL) {
        querylog_fields(v->options->queries[i].body, validate_semantic_look, &s);
    }
    return s.found;
}

bool validate_query_is_semantic(const struct validating *v, size_t i)
{
    return v->options->queries[i].search_pipeline != NULL || validate_semantic_uses(v, i, NULL);
}

/* Checks that some search uses a field that only a search by meaning can test. */
static void validate_semantic_expect_used(struct validating *v, const char *field)
{
    char remedy[512];
    bool used = false;
    for (size_t i = 0; i < v->options->query_count && !used; i++) {
        used = validate_semantic_uses(v, i, field);
    }
    if (!used) {
        snprintf(remedy, sizeof(remedy),
                 v->report->product.product == PRODUCT_ELASTICSEARCH
                     ? "add to validate.queries: {\"body\": {\"query\": {\"semantic\": {\"field\": "
                       "\"%.150s\", \"query\": \"some words\"}}}, \"expect\": [\"an id\"]}"
                     : "add to validate.queries: {\"body\": {\"query\": {\"neural\": {\"%.150s\": "
                       "{\"query_text\": \"some words\", \"k\": 10}}}}, \"expect\": [\"an id\"]}",
                 field);
        validate_note(v, VALIDATE_WARN, remedy,
                      "field \"%s\" is searched by meaning, and no search of validate.queries uses "
                      "it: rowferry cannot know what it should find",
                      field);
    }
}

int validate_semantic(struct validating *v, struct err *err)
{
    const struct mapping *m = v->options->mapping;
    size_t fields = 0;
    size_t asked = 0;
    int rc = 0;
    for (size_t i = 0; i < v->options->query_count && rc == 0; i++) {
        if (validate_query_is_semantic(v, i)) {
            rc = validate_query_expect(v, i, err);
            asked++;
        }
    }
    for (size_t i = 0; i < m->count && rc == 0; i++) {
        if (validate_is_semantic_type(m->properties[i].type)) {
            validate_semantic_expect_used(v, m->properties[i].name);
            fields++;
        }
    }
    if (rc == 0 && fields + asked == 0) {
        validate_skip(v, "no semantic field, and no semantic or hybrid search");
    } else if (rc == 0) {
        validate_set_result(v,
                            "%zu semantic or hybrid searches of the configuration, %zu semantic "
                            "fields",
                            asked, fields);
    }
    return rc;
}
