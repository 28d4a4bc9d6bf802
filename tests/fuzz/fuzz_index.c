/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about a name: indices, aliases, generations, their settings, mappings and `_meta`. */
#include <string.h>

#include "rowferry/service/index/index.h"
#include "served.h"

#define NAME "shop-20261123-1"
#define ALIAS "shop"
#define PIPELINE "p"

static const struct generation_id generation = {NAME, "u1", PIPELINE, NULL};

static void expect_info(const struct index_info *info)
{
    SERVED_ENDS(info->name);
    SERVED_ENDS(info->uuid);
    SERVED_ENDS(info->pipeline);
    SERVED_ENDS(info->fingerprint);
    SERVED_ENDS(info->source);
    SERVED_ENDS(info->table);
    SERVED_ENDS(info->creator);
}

static void resolve(struct service *s)
{
    enum alias_kind kind;
    struct index_info info;
    struct err err;
    int rc = index_resolve(s, ALIAS, &kind, &info, &err);
    served_result(rc, 0, &err);
    FUZZ_EXPECT(kind <= ALIAS_STREAM, "%d", (int)kind);
    FUZZ_EXPECT(kind != ALIAS_ONE || info.name[0] != '\0' || rc == 0, "an alias of nothing");
    expect_info(&info);
}

static void poll_alias(struct service *s)
{
    enum alias_kind kind;
    struct index_info info = {0};
    struct err err;
    s->poll = (struct slot){.service = s, .finished = true, .result = CURLE_OK};
    s->polling = http_request(s, "GET", "/" ALIAS, (struct span){0}, &s->poll.answer, &err) == 0;
    snprintf(s->poll_name, sizeof(s->poll_name), ALIAS);
    served_result(alias_poll_end(s, &kind, &info, &err), ALIAS_POLL_NONE, &err);
    FUZZ_EXPECT(!s->polling, "it is under way still");
    expect_info(&info);
    http_answer_release(&s->poll.answer);
}

static void look(struct service *s)
{
    bool found;
    struct index_info info;
    struct err err;
    served_result(index_look(s, NAME, &found, &info, &err), 0, &err);
    expect_info(&info);
}

static void list(struct service *s)
{
    struct index_info found[3];
    size_t count;
    struct err err;
    int rc = index_list(s, ALIAS, PIPELINE, found, 3, &count, &err);
    served_result(rc, 0, &err);
    FUZZ_EXPECT(count <= 3 && (rc == 0 || count == 0), "%zu", count);
    for (size_t i = 0; i < count; i++) {
        expect_info(&found[i]);
        FUZZ_EXPECT(strcmp(found[i].pipeline, PIPELINE) == 0, "%s", found[i].pipeline);
    }
}

static void count(struct service *s)
{
    int64_t n;
    struct err err;
    served_result(index_count(s, NAME, &n, &err), 0, &err);
    FUZZ_EXPECT(n >= 0, "%lld documents", (long long)n);
}

static void refresh(struct service *s)
{
    struct err err;
    served_result(index_refresh(s, NAME, &err), 0, &err);
}

static void ready(struct service *s)
{
    bool green;
    struct err err;
    served_result(index_ready(s, NAME, 1000, &green, &err), INDEX_UNSEEN, &err);
}

static void create(struct service *s)
{
    struct err err;
    served_result(index_create(s, NAME, "{\"properties\":{}}", NULL, &err), 0, &err);
    served_result(index_finish(s, NAME, "{\"index.number_of_replicas\":1}", &err), 0, &err);
}

static void left(struct service *s)
{
    struct buf position;
    int64_t clock;
    bool found;
    struct err err;
    buf_init(&position, 65536);
    served_result(index_left(s, NAME, &position, &clock, &found, &err), 0, &err);
    served_result(index_leave(s, NAME, PIPELINE, "0/1", 7, &err), 0, &err);
    buf_release(&position);
}

static void mapping(struct service *s)
{
    struct buf json;
    struct err err;
    buf_init(&json, (size_t)16 << 20);
    int rc = index_mapping(s, NAME, &json, &err);
    served_result(rc, 0, &err);
    FUZZ_EXPECT((rc == 0) == (json.len > 0) && !json.failed, "%zu bytes", json.len);
    served_result(index_extend(s, NAME, "{}", "{\"mapping\":\"f\"}", &err), 0, &err);
    buf_release(&json);
}

static void swap(struct service *s)
{
    struct err err;
    served_result(index_swap(s, ALIAS, NULL, NAME, &err), 0, &err);
}

static void adopt(struct service *s)
{
    bool kept;
    struct err err;
    int rc = adopt_swap_alias(s, ALIAS, "shop-kept", NAME, &kept, &err);
    served_result(rc < 0 ? rc : 0, 0, &err);
    served_result(adopt_undo_alias(s, ALIAS, "shop-kept", &err), 0, &err);
}

static void adopt_undo(struct service *s)
{
    struct err err;
    served_result(adopt_undo_alias(s, ALIAS, "shop-kept", &err), 0, &err);
}

static void writes(struct service *s)
{
    char alias[INDEX_WRITE_ALIAS_BYTES];
    struct err err;
    served_result(write_alias_open(s, &generation, alias, &err), 0, &err);
    SERVED_ENDS(alias);
}

static void drop(struct service *s)
{
    struct err err;
    served_result(index_delete(s, NAME, PIPELINE, &err), 0, &err);
}

static const served_reader readers[] = {resolve, poll_alias, look,       list,   count,
                                        refresh, ready,      create,     left,   mapping,
                                        swap,    adopt,      adopt_undo, writes, drop};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    served(readers, sizeof(readers) / sizeof(readers[0]), data, size);
    return 0;
}
