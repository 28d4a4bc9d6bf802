/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about the cluster's clock, settings, nodes and disks, and the growth computed from
 * them. */
#include <string.h>

#include "rowferry/service/cluster/cluster.h"
#include "rowferry/service/cluster/growth.h"
#include "served.h"

static void clock_of(struct service *s)
{
    int64_t wall_s;
    struct err err;
    served_result(cluster_clock(s, &wall_s, &err), 0, &err);
}

static void auto_create(struct service *s)
{
    struct buf value;
    struct err err;
    buf_init(&value, 65536);
    served_result(cluster_auto_create(s, &value, &err), 0, &err);
    (void)cluster_creates(buf_text(&value), "shop-20261123-1");
    buf_release(&value);
}

static void room(struct service *s)
{
    struct cluster_room found;
    struct err err;
    served_result(cluster_room(s, &found, &err), 0, &err);
    FUZZ_EXPECT(found.data_nodes >= 0 && found.shards >= -1, "%lld, %lld",
                (long long)found.data_nodes, (long long)found.shards);
}

static void growth(struct service *s)
{
    struct growth g = {0};
    struct storage found;
    struct err err;
    for (int64_t i = 0; i < 8; i++) {
        int rc = storage_look(s, "shop-20261123-1", &found, &err);
        served_result(rc, 0, &err);
        if (rc == 0) {
            FUZZ_EXPECT(found.bytes >= 0, "%lld bytes", (long long)found.bytes);
            (void)growth_judge(&g, &found, &(struct growth_sent){i * 2000, 100, 1000000});
        }
    }
}

static void nodes(struct service *s)
{
    int count;
    struct err err;
    served_result(cluster_nodes(s, &count, &err), 0, &err);
}

static const served_reader readers[] = {clock_of, auto_create, room, growth, nodes};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    served(readers, sizeof(readers) / sizeof(readers[0]), data, size);
    return 0;
}
