/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For LD_PRELOAD: numbers the system calls of a program, and makes one of them fail or be its last.
 *
 * $ROWFERRY_TEST_BOUNDARY is "ACTION CLASS FILE SITE NUMBER ERRNO". A site is a function, its
 * caller, and the call path through the program itself; for memory the whole call path. SITE is the
 * hash of that, NUMBER counts the calls of a site from 1.
 *
 * CLASS
 *   "boundary"  calls that may change something outside the program, or receive data
 *   "system"    these, and calls that only query
 *   "memory"    allocations
 *   "sqlite"    calls of SQLite by the program itself; ERRNO is SQLite's code
 *
 * ACTION
 *   "count"  for each call writes a line "SITE function caller place" to FILE, and a line
 *            "by OFFSET" for each place on the call path. The place is the last one in the
 *            program itself. For memory only the first call of a site is written.
 *
 * The other actions act on the call with this number of this site. They write a line to FILE when
 * it occurs, as proof.
 *   "kill"   kills the process before the call, or after a call that received data
 *   "torn"   writes half of the data, then kills the process
 *   "once"   fails with ERRNO without carrying out the call (except close)
 *   "full"   this and all later writes to files fail with ERRNO
 */
#include "boundary.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAMES 48
#define LOG_FD 900 /* out of the way of descriptors that are allocated from below */
#define SITES 65536
#define MODULES 128

enum action { ACTION_NONE, ACTION_COUNT, ACTION_KILL, ACTION_TORN, ACTION_ONCE, ACTION_FULL };
static enum action action;
static enum class class;
static uint64_t wanted;
static unsigned long number;
static int wanted_errno;
static int log_fd = -1;
static atomic_ulong passed;
static atomic_bool full;
static atomic_ullong seen[SITES]; /* for memory: sites already reported */
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

/* --- where a call comes from ----------------------------------------------------------------- */

struct site {
    const char *function;
    void *frames[FRAMES];
    int count;
    uint64_t hash;
};

struct module {
    uintptr_t begin;
    uintptr_t end;
    const char *name;
    uint64_t name_hash;
};

/* Modules loaded at the start and later: found once, then looked up. The first is the program. */
static struct module modules[MODULES];
static atomic_size_t module_count;
static pthread_mutex_t modules_held = PTHREAD_MUTEX_INITIALIZER;

static uint64_t mix(uint64_t hash, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    size_t count = atomic_load(&module_count);
    struct module m = {.begin = info->dlpi_addr};
    (void)size;
    (void)context;
    for (size_t i = 0; i < count; i++) {
        if (modules[i].begin == m.begin) {
            return 0;
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t end = info->dlpi_addr + h->p_vaddr + h->p_memsz;
        m.end = h->p_type == PT_LOAD && end > m.end ? end : m.end;
    }
    const char *slash = strrchr(info->dlpi_name, '/');
    m.name = count == 0 ? "rowferry" : slash != NULL ? slash + 1 : info->dlpi_name;
    m.name_hash = mix(UINT64_C(0xcbf29ce484222325), m.name, strlen(m.name));
    if (count < MODULES) {
        modules[count] = m;
        atomic_store(&module_count, count + 1);
    }
    return 0;
}

static const struct module *known_module(const void *frame)
{
    size_t count = atomic_load(&module_count);
    for (size_t i = 0; i < count; i++) {
        if ((uintptr_t)frame >= modules[i].begin && (uintptr_t)frame < modules[i].end) {
            return &modules[i];
        }
    }
    return NULL;
}

static const struct module *module_of(const void *frame)
{
    static const struct module nowhere = {.name = "?"};
    const struct module *m = known_module(frame);
    if (m == NULL) {
        pthread_mutex_lock(&modules_held);
        dl_iterate_phdr(add_module, NULL);
        pthread_mutex_unlock(&modules_held);
        m = known_module(frame);
    }
    return m != NULL ? m : &nowhere;
}

static bool is_own(const void *frame)
{
    return (uintptr_t)frame >= modules[0].begin && (uintptr_t)frame < modules[0].end;
}

/* Returns the address relative to its file. *name is the file's name. */
static size_t relative(void *frame, const char **name)
{
    const struct module *m = module_of(frame);
    *name = m->name;
    return (uintptr_t)frame - m->begin;
}

static uint64_t mix_frame(uint64_t hash, void *frame)
{
    const struct module *m = module_of(frame);
    uint64_t offset = (uintptr_t)frame - m->begin;
    return (hash ^ m->name_hash ^ offset) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

static void *own_place(const struct site *s)
{
    for (int i = 0; i < s->count; i++) {
        if (is_own(s->frames[i])) {
            return s->frames[i];
        }
    }
    return NULL;
}

/* frames[0] is the wrapper's caller. */
static void site_find(struct site *s, const char *function)
{
    void *all[FRAMES + 6];
    const struct module *self = module_of((void *)(uintptr_t)site_find);
    int count = backtrace(all, FRAMES + 6);
    int skipped = 0;
    while (skipped < count && module_of(all[skipped]) != self) {
        skipped++; /* frames of a sanitizer's backtrace() */
    }
    while (skipped < count && module_of(all[skipped]) == self) {
        skipped++;
    }
    s->function = function;
    s->count = count - skipped < FRAMES ? count - skipped : FRAMES;
    memcpy(s->frames, all + skipped, (size_t)s->count * sizeof(all[0]));
    s->hash = mix(UINT64_C(0xcbf29ce484222325), function, strlen(function));
    for (int i = 0; i < s->count; i++) {
        if (i == 0 || class == CLASS_MEMORY || is_own(s->frames[i])) {
            s->hash = mix_frame(s->hash, s->frames[i]);
        }
    }
}

static void site_tell(const struct site *s)
{
    char line[256];
    const char *caller = "?";
    const char *place = "-";
    size_t caller_offset = s->count > 0 ? relative(s->frames[0], &caller) : 0;
    size_t place_offset = own_place(s) != NULL ? relative(own_place(s), &place) : 0;
    int len =
        snprintf(line, sizeof(line), "%016llx %s %s+%zx %s+%zx\n", (unsigned long long)s->hash,
                 s->function, caller, caller_offset, place, place_offset);
    syscall(SYS_write, log_fd, line, (size_t)len);
}

/* Returns true if the site was reported before. */
static bool told(uint64_t hash)
{
    for (size_t i = 0; i < SITES; i++) {
        atomic_ullong *slot = &seen[(hash + i) % SITES];
        unsigned long long empty = 0;
        if (atomic_compare_exchange_strong(slot, &empty, hash)) {
            return false;
        }
        if (empty == hash) {
            return true;
        }
    }
    return true;
}

static void count(const struct site *s)
{
    char line[64];
    if (class != CLASS_MEMORY || !told(s->hash)) {
        site_tell(s);
    }
    for (int i = 0; class == CLASS_BOUNDARY && i < s->count; i++) {
        if (is_own(s->frames[i]) && !told((uintptr_t)s->frames[i])) {
            int len = snprintf(line, sizeof(line), "by %zx\n",
                               (size_t)((uintptr_t)s->frames[i] - modules[0].begin));
            syscall(SYS_write, log_fd, line, (size_t)len);
        }
    }
}

/* Returns true if this is the call to break. */
static bool arrives(const char *function, enum class of)
{
    struct site s;
    bool hit = false;
    bool mine = class >= CLASS_MEMORY || of >= CLASS_MEMORY ? of == class : of <= class;
    if (action == ACTION_NONE || !mine || inside) {
        return false;
    }
    inside = true;
    int kept = errno;
    site_find(&s, function);
    if (of == CLASS_SQLITE && (s.count == 0 || !is_own(s.frames[0]))) {
        hit = false; /* internal call of SQLite */
    } else if (action == ACTION_COUNT) {
        count(&s);
    } else if (s.hash == wanted && atomic_fetch_add(&passed, 1) + 1 == number) {
        site_tell(&s);
        hit = true;
    }
    errno = kept;
    inside = false;
    return hit;
}

void boundary_die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) {
        pause();
    }
}

bool boundary_fails(const char *function, enum class of)
{
    if (!arrives(function, of)) {
        return false;
    }
    if (action == ACTION_KILL || action == ACTION_TORN) {
        boundary_die();
    }
    atomic_store(&full, action == ACTION_FULL);
    errno = wanted_errno;
    return true;
}

static void arrives_to_die(const char *function, enum class of)
{
    if (arrives(function, of)) {
        boundary_die();
    }
}

/* Receiving calls are killed and counted only after data arrived. */
ssize_t boundary_came(const char *function, enum class of, ssize_t result)
{
    if (class == CLASS_BOUNDARY && (result >= 0 || (errno != EAGAIN && errno != EINTR))) {
        arrives_to_die(function, of);
    }
    return result;
}

bool boundary_fails_before(const char *function, enum class of)
{
    return class != CLASS_BOUNDARY && boundary_fails(function, of);
}

int boundary_errno(void)
{
    return wanted_errno;
}

/* Excludes a test's standard streams, which are files too. */
static bool is_file(int fd)
{
    struct stat status;
    return fd > STDERR_FILENO && syscall(SYS_fstat, fd, &status) == 0 && S_ISREG(status.st_mode);
}

/* Keeps a reset connection reset. */
static void reset(int fd)
{
    if (wanted_errno == ECONNRESET) {
        syscall(SYS_shutdown, fd, SHUT_RDWR);
    }
    errno = wanted_errno;
}

bool boundary_breaks(const char *function, int fd)
{
    bool broken = boundary_fails_before(function, CLASS_BOUNDARY);
    if (broken) {
        reset(fd);
    }
    return broken;
}

ssize_t boundary_goes(const char *function, int fd, size_t size)
{
    if (atomic_load(&full) && is_file(fd)) {
        errno = wanted_errno;
        return -1;
    }
    if (!arrives(function, CLASS_BOUNDARY)) {
        return (ssize_t)size;
    }
    if (action == ACTION_KILL || (action == ACTION_TORN && size < 2)) {
        boundary_die();
    }
    if (action == ACTION_TORN) {
        return (ssize_t)(size / 2);
    }
    atomic_store(&full, action == ACTION_FULL);
    reset(fd);
    return -1;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const actions[] = {"", "count", "kill", "torn", "once", "full"};
    static const char *const classes[] = {"", "boundary", "system", "memory", "sqlite"};
    char what[16] = "";
    char of[16] = "";
    char file[3072] = "";
    unsigned long long site = 0;
    void *frame[4];
    const char *setting = getenv("ROWFERRY_TEST_BOUNDARY");
    if (setting == NULL || sscanf(setting, "%15s %15s %3071s %llx %lu %d", what, of, file, &site,
                                  &number, &wanted_errno) < 3) {
        return;
    }
    inside = true;
    dl_iterate_phdr(add_module, NULL);
    backtrace(frame, 4); /* make backtrace load its library now */
    int fd =
        (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log_fd = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOG_FD);
    syscall(SYS_close, fd);
    wanted = site;
    for (int i = 1; i < 6; i++) {
        action = strcmp(what, actions[i]) == 0 ? (enum action)i : action;
    }
    for (int i = 1; i < 5; i++) {
        class = strcmp(of, classes[i]) == 0 ? (enum class)i : class;
    }
    inside = false;
}
