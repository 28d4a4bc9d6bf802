/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the mapping of an index with a configured one. The input has two lines: the configured
 * one ("" is a default), and the service's. A mapping must not differ from itself, and any text is
 * either readable as a mapping or refused.
 */
#include <string.h>

#include "fuzz.h"
#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapdiff.h"
#include "rowferry/document/mapping/mapping.h"

static const char usual[] =
    "{\"properties\":{\"id\":{\"type\":\"keyword\"},\"title\":{\"type\":\"text\",\"fields\":{"
    "\"raw\":"
    "{\"type\":\"keyword\",\"ignore_above\":256}}},\"author\":{\"properties\":{\"name\":{\"type\":"
    "\"text\",\"analyzer\":\"english\"}}},\"a.b\":{\"type\":\"long\"},\"v\":{\"type\":\"knn_"
    "vector\","
    "\"dimension\":3,\"method\":{\"name\":\"hnsw\",\"parameters\":{}}}}}";

static void diff(const char *configured, const char *live)
{
    struct mapdiff d;
    struct err err;
    struct buf said;
    buf_init(&said, (size_t)64 << 20);
    int rc = mapdiff_make(&d, configured, live, &err);
    FUZZ_EXPECT(rc == 0 || rc == ERR_CONFIG || rc == ERR_TRANSIENT || rc == ERR_REJECTED, "%d", rc);
    FUZZ_EXPECT(rc == 0 || (d.count == 0 && err.message[0] != '\0'), "%zu lines", d.count);
    for (size_t i = 0; i < d.count; i++) {
        mapdiff_describe(&said, &d.lines[i]);
    }
    buf_reset(&said);
    mapdiff_additions(&said, &d, configured);
    FUZZ_EXPECT(!said.failed && said.len >= 2, "%zu bytes", said.len);
    mapdiff_release(&d);
    buf_release(&said);
}

static void read_mapping(const char *text)
{
    struct mapping m;
    struct err err;
    int rc = mapping_parse(&m, text, &err);
    FUZZ_EXPECT(rc == 0 || rc == ERR_CONFIG, "%d", rc);
    if (rc == 0) {
        struct mapdiff d;
        char *analyzer = mapping_parameter(&m, "author.name", "analyzer");
        free(analyzer);
        rc = mapdiff_make(&d, m.json, m.json, &err);
        FUZZ_EXPECT(rc != 0 || m.dynamic == NULL || d.count == 0, "%s", m.json);
        mapdiff_release(&d);
        mapping_release(&m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    char *live = strchr(text, '\n');
    if (live != NULL) {
        *live++ = '\0';
        diff(text[0] != '\0' ? text : usual, live);
        diff(live, text[0] != '\0' ? text : usual);
        read_mapping(live);
    }
    free(text);
    return 0;
}
