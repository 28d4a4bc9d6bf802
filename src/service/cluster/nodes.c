/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the data nodes. */
#include "rowferry/service/cluster/nodes.h"

#include "http/body.h"

#define HEALTH "/_cluster/health"

int nodes_count(struct service *s, int *out, struct err *err)
{
    struct http_answer answer;
    *out = 0;
    int rc = http_request(s, "GET", HEALTH, span_make(NULL, 0), &answer, err);
    if (rc < 0) {
        return rc;
    }
    struct json_object *tree = NULL;
    if (answer.status == 200) {
        rc = body_take(&tree, &answer, BODY_SHORT, "GET", HEALTH, err);
    }
    *out = json_object_get_int(json_tree_member(tree, "number_of_data_nodes"));
    json_object_put(tree);
    http_answer_release(&answer);
    return rc;
}
