/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the type of a value before each use of json-c. */
#include "base/tree.h"

#include <pthread.h>
#include <string.h>

static struct json_object *empty;
static pthread_once_t empty_made = PTHREAD_ONCE_INIT;

static void make_empty(void)
{
    empty = json_object_new_object();
    if (empty == NULL) {
        mem_exhausted();
    }
}

struct json_object *tree_object(struct json_object *value)
{
    pthread_once(&empty_made, make_empty);
    return json_object_is_type(value, json_type_object) ? value : empty;
}

size_t tree_count(struct json_object *value)
{
    return (size_t)json_object_object_length(tree_object(value));
}

size_t tree_length(struct json_object *value)
{
    return json_object_is_type(value, json_type_array) ? json_object_array_length(value) : 0;
}

struct json_object *tree_item(struct json_object *list, size_t i)
{
    return json_object_is_type(list, json_type_array) ? json_object_array_get_idx(list, i) : NULL;
}

struct span tree_span(struct json_object *value)
{
    const char *text = tree_text(value);
    return span_make(text, json_object_is_type(value, json_type_string)
                               ? (size_t)json_object_get_string_len(value)
                               : strlen(text));
}

const char *tree_text(struct json_object *value)
{
    const char *text = json_object_get_string(value);
    return text != NULL ? text : "null";
}
