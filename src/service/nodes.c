/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that hold data. */
#include "rowferry/service/nodes.h"

#include "body.h"

#define HEALTH "/_cluster/health"

int nodes_count(struct service *s, int *out, struct err *err)
{
    struct http_answer answer;
    *out = 0;
    int rc = http_request(s, "GET", HEALTH, span_make(NULL, 0), &answer, err);
    if (rc < 0) {
        return rc;
    }
    struct json_object *tree = answer.status == 200 ? body_parse(&answer.body) : NULL;
    *out =
        json_object_get_int(body_member(tree, (const char *const[]){"number_of_data_nodes", NULL}));
    json_object_put(tree);
    http_answer_release(&answer);
    return 0;
}
