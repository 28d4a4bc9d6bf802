/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file of arbitrary bytes: loaded, or refused with one line that names the
 * position. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "rowferry/config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64];
    struct config *config = NULL;
    struct err err = {.class = ERR_NONE};
    if (fd < 0) {
        fd = memfd_create("rowferry.json", 0);
    }
    bool written = fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size;
    FUZZ_EXPECT(written, "no file");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int rc = config_load(&config, path, &err);
    if (rc == 0) {
        FUZZ_EXPECT(config != NULL && config->pipeline_count > 0, "loaded nothing");
        config_free(config);
    } else {
        FUZZ_EXPECT(rc == ERR_CONFIG && config == NULL, "refused with %d", rc);
        FUZZ_EXPECT(err.message[0] != '\0' && strchr(err.message, '\n') == NULL, "message: %s",
                    err.message);
    }
    return 0;
}
