/* SPDX-License-Identifier: Apache-2.0 */
/* The set of key hashes, compared with a plain array. */
#include "core/hashset.h"

#include "suite.h"

START_TEST(adds_and_removes_once)
{
    struct hashset k;
    hashset_init(&k);
    ck_assert(!hashset_has(&k, 7));
    ck_assert(!hashset_remove(&k, 7));
    ck_assert(hashset_add(&k, 7));
    ck_assert(!hashset_add(&k, 7));
    ck_assert(hashset_has(&k, 7));
    ck_assert(hashset_remove(&k, 7));
    ck_assert(!hashset_has(&k, 7));
    hashset_release(&k);
}
END_TEST

/* Adds and removes 600 values that often collide, in random order. */
START_TEST(agrees_with_an_array_under_collisions)
{
    struct hashset k;
    bool there[600] = {false};
    uint64_t random = 1;
    hashset_init(&k);
    for (int step = 0; step < 200000; step++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        size_t i = (size_t)(random >> 33) % 600;
        uint64_t hash = (i % 20) + 1 + (i / 20) * 65536;
        if ((random >> 20) % 2 == 0) {
            ck_assert(hashset_add(&k, hash) == !there[i]);
            there[i] = true;
        } else {
            ck_assert(hashset_remove(&k, hash) == there[i]);
            there[i] = false;
        }
    }
    for (size_t i = 0; i < 600; i++) {
        ck_assert(hashset_has(&k, (i % 20) + 1 + (i / 20) * 65536) == there[i]);
    }
    hashset_release(&k);
}
END_TEST

SUITE_MAIN("engine/hashset", adds_and_removes_once, agrees_with_an_array_under_collisions)
