/* SPDX-License-Identifier: Apache-2.0 */
/* The table of defaults of OpenSearch and Elasticsearch. */
#include "mapping/mapdiff_private.h"

#include <stddef.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/document/json/json_compare.h"

/* A null type matches any type without a line above; a null value matches any value, as the service
 * chose it. */
static const struct {
    const char *type;
    const char *parameter;
    const char *value;
} defaults[] = {
    {"", "date_detection", "true"},
    {"", "numeric_detection", "false"},
    {"", "subobjects", "true"},
    {"text", "norms", "true"},
    {"text", "index_options", "positions"},
    {"keyword", "index_options", "docs"},
    {"keyword", "ignore_above", "2147483647"},
    {"binary", "doc_values", "false"},
    {"search_as_you_type", "doc_values", "false"},
    {"search_as_you_type", "max_shingle_size", "3"},
    {"search_as_you_type", "norms", "true"},
    {"search_as_you_type", "index_options", "positions"},
    {"wildcard", "doc_values", NULL},
    {"wildcard", "ignore_above", "2147483647"},
    {"completion", "analyzer", "simple"},
    {"completion", "preserve_separators", "true"},
    {"completion", "preserve_position_increments", "true"},
    {"completion", "max_input_length", "50"},
    {"dense_vector", "similarity", "cosine"},
    {"dense_vector", "index_options", NULL},
    {"dense_vector", "element_type", "float"},
    {"knn_vector", "data_type", "float"},
    {"date", "format", "strict_date_optional_time||epoch_millis"},
    {"date_nanos", "format", "strict_date_optional_time_nanos||epoch_millis"},
    {"date_range", "format", "strict_date_optional_time||epoch_millis"},
    {"flattened", "depth_limit", "20"},
    {"flattened", "ignore_above", "2147483647"},
    {"geo_shape", "orientation", "right"},
    {NULL, "index", "true"},
    {NULL, "doc_values", "true"},
    {NULL, "store", "false"},
    {NULL, "enabled", "true"},
    {NULL, "coerce", "true"},
    {NULL, "ignore_malformed", "false"},
    {NULL, "ignore_z_value", "true"},
    {NULL, "boost", "1"},
    {NULL, "norms", "false"},
    {NULL, "similarity", "BM25"},
    {NULL, "term_vector", "no"},
    {NULL, "fielddata", "false"},
    {NULL, "index_phrases", "false"},
    {NULL, "eager_global_ordinals", "false"},
    {NULL, "split_queries_on_whitespace", "false"},
    {NULL, "position_increment_gap", "100"},
    {NULL, "positive_score_impact", "true"},
    {NULL, "include_in_parent", "false"},
    {NULL, "include_in_root", "false"},
    {NULL, "null_value", "null"},
    {NULL, "copy_to", "[]"},
    {NULL, "meta", "{}"},
    {NULL, "fields", "{}"},
};

bool mapping_is_default(const char *type, const char *parameter, const char *value)
{
    value = value != NULL ? value : "null";
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        if (strcmp(defaults[i].parameter, parameter) != 0 ||
            (defaults[i].type != NULL && strcmp(defaults[i].type, type) != 0)) {
            continue;
        }
        const char *text = defaults[i].value;
        return text == NULL ||
               json_scalar_same(span_make(text, strlen(text)), span_make(value, strlen(value)));
    }
    return false;
}
