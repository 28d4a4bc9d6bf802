/* SPDX-License-Identifier: Apache-2.0 */
/* Data streams and their index templates. */
#include <string.h>

#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/index/stream.h"
#include "served.h"

#define NAME "events"
#define MAPPINGS                                                                                   \
    "{\"properties\":{\"@timestamp\":{\"type\":\"date\"},\"kind\":{\"type\":\"keyword\"}},"        \
    "\"_meta\":{\"rowferry\":{\"pipeline\":\"p\"}}}"

static void create(struct service *s)
{
    struct err err;
    served_result(stream_create(s, NAME, MAPPINGS, "{\"number_of_shards\":1}", &err), 0, &err);
}

static void mark(struct service *s)
{
    struct generation_id stream = {NAME, "u1", "p", NULL};
    struct err err;
    served_result(stream_mark(s, &stream, &err), 0, &err);
}

static void lacks(struct service *s)
{
    char property[STREAM_TEMPLATE_BYTES];
    struct err err;
    served_result(stream_template_lacks(s, NAME, MAPPINGS, property, &err), 0, &err);
    SERVED_ENDS(property);
}

static void template(struct service *s)
{
    struct cluster_template found;
    struct err err;
    served_result(cluster_template(s, NAME, &found, &err), 0, &err);
    SERVED_ENDS(found.name);
    FUZZ_EXPECT(found.priority >= 0, "%lld", (long long)found.priority);
}

static const served_reader readers[] = {create, mark, lacks, template};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    served(readers, sizeof(readers) / sizeof(readers[0]), data, size);
    return 0;
}
