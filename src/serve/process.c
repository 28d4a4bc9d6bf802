/* SPDX-License-Identifier: Apache-2.0 */
/* Measures this process with /proc and getrusage. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "metrics.h"

static int64_t process_resident_bytes(void)
{
    char text[128] = ""; /* "pages resident shared ..." */
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return -1;
    }
    const char *pages = fgets(text, sizeof(text), file) != NULL ? strchr(text, ' ') : NULL;
    fclose(file);
    return pages != NULL ? strtoll(pages, NULL, 10) * sysconf(_SC_PAGESIZE) : -1;
}

/* Counts the open descriptors, without the one of the directory. */
static int64_t process_open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int64_t count = -1;
    if (folder == NULL) {
        return -1;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        count += entry->d_name[0] != '.';
    }
    closedir(folder);
    return count;
}

static double process_seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void process_look(struct process *out)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        out->cpu_s = process_seconds_of(usage.ru_utime) + process_seconds_of(usage.ru_stime);
    }
    out->resident_bytes = process_resident_bytes();
    out->descriptors = process_open_descriptors();
}
