/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a target on files without a fuzzer; the arguments are files and folders of them.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "expect.h"

#define PATH_BYTES 4096
#define INPUT_MAX_BYTES ((size_t)1 << 20)

static size_t replay_file(const char *path)
{
    /* of exactly the input's size, so that reading beyond it is detected */
    uint8_t *all = malloc(INPUT_MAX_BYTES);
    FILE *file = fopen(path, "rb");
    FUZZ_EXPECT(file != NULL && all != NULL, "cannot open %s", path);
    size_t size = fread(all, 1, INPUT_MAX_BYTES, file);
    fclose(file);
    uint8_t *input = malloc(size > 0 ? size : 1);
    FUZZ_EXPECT(input != NULL, "no memory");
    memcpy(input, all, size);
    free(all);
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    return 1;
}

static size_t replay(const char *path)
{
    char inner[PATH_BYTES];
    struct stat what;
    size_t count = 0;
    FUZZ_EXPECT(stat(path, &what) == 0, "cannot find %s", path);
    if (!S_ISDIR(what.st_mode)) {
        return replay_file(path);
    }
    DIR *folder = opendir(path);
    FUZZ_EXPECT(folder != NULL, "cannot open %s", path);
    for (const struct dirent *e = readdir(folder); e != NULL; e = readdir(folder)) {
        if (e->d_name[0] != '.') {
            snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
            count += replay(inner);
        }
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        count += replay(argv[i]);
    }
    printf("%zu inputs\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
