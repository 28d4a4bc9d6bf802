/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about the product and the account's privileges, and those to the smoke test's steps. */
#include <string.h>

#include "rowferry/service/cluster/privilege.h"
#include "rowferry/service/trial/smoke.h"
#include "served.h"

static void product(struct service *s)
{
    struct product_info info;
    struct err err;
    served_result(product_detect(s, &info, &err), 0, &err);
    SERVED_ENDS(info.version);
    SERVED_ENDS(info.cluster);
    FUZZ_EXPECT(info.major >= 0 && info.minor >= 0, "%d.%d", info.major, info.minor);
    FUZZ_EXPECT(strpbrk(info.version, " \n\"\\") == NULL, "%s", info.version);
}

static void account(struct service *s, enum product product)
{
    struct product_info info = {.product = product, .permitted = true};
    struct account found;
    struct err err;
    served_result(privilege_account_look(s, &info, &found, &err), 0, &err);
    SERVED_ENDS(found.name);
    SERVED_ENDS(found.administrator);
    SERVED_ENDS(found.why);
    privilege_account_release(&found);
}

static void account_of_elasticsearch(struct service *s)
{
    account(s, PRODUCT_ELASTICSEARCH);
}

static void account_of_opensearch(struct service *s)
{
    account(s, PRODUCT_OPENSEARCH);
}

static void missing(struct service *s, enum product product)
{
    struct product_info info = {.product = product, .permitted = true};
    struct buf words;
    struct err err;
    bool told;
    buf_init(&words, 65536);
    served_result(privilege_missing(s, &info, "shop", &words, &told, &err), 0, &err);
    buf_release(&words);
}

static void missing_in_elasticsearch(struct service *s)
{
    missing(s, PRODUCT_ELASTICSEARCH);
}

static void missing_in_opensearch(struct service *s)
{
    missing(s, PRODUCT_OPENSEARCH);
}

static void try_smoke(struct service *s, bool implicit)
{
    struct smoke t = {.index = "smoke", .token = "t0", .implicit = implicit};
    struct err err = {0};
    int rc = smoke_create(s, &t, &err);
    served_result(rc, 0, &err);
    rc = rc == 0 ? smoke_index(s, &t, 1700000000000000, &err) : rc;
    SERVED_ENDS(t.id);
    rc = rc == 0 ? smoke_search(s, &t, &err) : rc;
    served_result(rc, 0, &err);
    rc = smoke_remove(s, &t, &err);
    served_result(rc, 0, &err);
    FUZZ_EXPECT(rc < 0 || t.state == SMOKE_ABSENT, "%d", (int)t.state);
}

static void smoke(struct service *s)
{
    try_smoke(s, false);
}

static void smoke_without_an_index(struct service *s)
{
    try_smoke(s, true);
}

static const served_reader readers[] = {product,
                                        account_of_elasticsearch,
                                        account_of_opensearch,
                                        missing_in_elasticsearch,
                                        missing_in_opensearch,
                                        smoke,
                                        smoke_without_an_index};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    served(readers, sizeof(readers) / sizeof(readers[0]), data, size);
    return 0;
}
