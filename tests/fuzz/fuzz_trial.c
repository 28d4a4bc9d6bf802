/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to the requests of validate on its trial index: searches, terms, segments, replicas. */
#include <string.h>

#include "rowferry/service/trial/leftovers.h"
#include "rowferry/service/trial/trial.h"
#include "served.h"

#define INDEX "shop-validate-t0"

static void expect_hits(const struct hits *h)
{
    for (size_t i = 0; i < h->ids.count; i++) {
        size_t from = i > 0 ? h->ids.ends[i - 1] : 0;
        FUZZ_EXPECT(from <= h->ids.ends[i] && h->ids.ends[i] <= h->ids.bytes.len, "hit %zu", i);
    }
    FUZZ_EXPECT(h->total >= 0, "%lld", (long long)h->total);
}

static void search(struct service *s)
{
    struct hits h;
    struct err err;
    scan_list_init(&h.ids, TRIAL_IDS_BYTES);
    served_result(trial_search(s, INDEX, "{\"query\":{\"match_all\":{}}}", 10, NULL, &h, &err), 0,
                  &err);
    expect_hits(&h);
    served_result(trial_search_text(s, INDEX, "title:a", 10, "hybrid", &h, &err), 0, &err);
    expect_hits(&h);
    scan_list_release(&h.ids);
}

static void analyze(struct service *s)
{
    struct trial_terms terms;
    struct err err;
    served_result(trial_analyze(s, INDEX, "title", NULL, "some words", &terms, &err), 0, &err);
    for (size_t i = 0; i < terms.count; i++) {
        FUZZ_EXPECT(terms.items[i] != NULL, "term %zu", i);
    }
    trial_terms_release(&terms);
}

static void segments(struct service *s)
{
    int64_t bytes;
    struct err err;
    served_result(trial_bytes(s, INDEX, &bytes, &err), 0, &err);
    FUZZ_EXPECT(bytes >= 0, "%lld bytes", (long long)bytes);
}

static void workers(struct service *s)
{
    int64_t copies;
    struct err err;
    served_result(trial_copies(s, INDEX, &copies, &err), 0, &err);
}

static void whole(struct service *s)
{
    struct trial t = {.index = INDEX, .token = "t0", .pipeline = "p"};
    struct err err;
    served_result(trial_create(s, &t, "{\"properties\":{}}", NULL, &err), 0, &err);
    SERVED_ENDS(t.write_alias);
    served_result(trial_remove(s, &t, &err), 0, &err);
}

static void leftovers(struct service *s)
{
    struct leftover list[LEFTOVERS_MOST];
    size_t count;
    struct err err;
    served_result(leftovers_list(s, "shop", "p", 1800000000000000, list, &count, &err), 0, &err);
    FUZZ_EXPECT(count <= LEFTOVERS_MOST, "%zu", count);
    for (size_t i = 0; i < count; i++) {
        SERVED_ENDS(list[i].index);
        FUZZ_EXPECT(strncmp(list[i].index, "shop-", 5) == 0, "%s", list[i].index);
        FUZZ_EXPECT(list[i].age_s >= 0, "%lld s", (long long)list[i].age_s);
    }
}

static const served_reader readers[] = {search, analyze, segments, workers, whole, leftovers};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    served(readers, sizeof(readers) / sizeof(readers[0]), data, size);
    return 0;
}
