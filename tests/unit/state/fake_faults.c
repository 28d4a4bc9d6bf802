/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps SQLite's file system and allocator, and intercepts statements. */
#include "fake_faults.h"

#include <sqlite3.h>
#include <stddef.h>

static enum fault_kind kind;
static int left;

struct file {
    sqlite3_file base;
    sqlite3_file *real;
};

static sqlite3_vfs *system_files;
static sqlite3_vfs files;
static sqlite3_mem_methods system_memory;

static bool due(enum fault_kind of)
{
    return kind == of && --left == 0;
}

void faults_begin(enum fault_kind of, int nth)
{
    kind = of;
    left = nth;
}

bool faults_end(void)
{
    kind = FAULT_NONE;
    return left <= 0;
}

/* --- files ----------------------------------------------------------------------------------- */

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct file *)f)->real;
}

static int close_file(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int read_file(sqlite3_file *f, void *out, int size, sqlite3_int64 at)
{
    return due(FAULT_IOERR) ? SQLITE_IOERR_READ
                            : real_of(f)->pMethods->xRead(real_of(f), out, size, at);
}

static int write_file(sqlite3_file *f, const void *bytes, int size, sqlite3_int64 at)
{
    return due(FAULT_IOERR)  ? SQLITE_IOERR_WRITE
           : due(FAULT_FULL) ? SQLITE_FULL
                             : real_of(f)->pMethods->xWrite(real_of(f), bytes, size, at);
}

static int truncate_file(sqlite3_file *f, sqlite3_int64 size)
{
    return due(FAULT_IOERR) ? SQLITE_IOERR_TRUNCATE
                            : real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int sync_file(sqlite3_file *f, int flags)
{
    return due(FAULT_IOERR) ? SQLITE_IOERR_FSYNC : real_of(f)->pMethods->xSync(real_of(f), flags);
}

static int size_file(sqlite3_file *f, sqlite3_int64 *size)
{
    return due(FAULT_IOERR) ? SQLITE_IOERR_FSTAT
                            : real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int lock_file(sqlite3_file *f, int level)
{
    return due(FAULT_IOERR)  ? SQLITE_IOERR_LOCK
           : due(FAULT_BUSY) ? SQLITE_BUSY
                             : real_of(f)->pMethods->xLock(real_of(f), level);
}

static int unlock_file(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int look_at_lock(sqlite3_file *f, int *held)
{
    return due(FAULT_IOERR) ? SQLITE_IOERR_CHECKRESERVEDLOCK
                            : real_of(f)->pMethods->xCheckReservedLock(real_of(f), held);
}

static int control_file(sqlite3_file *f, int what, void *argument)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), what, argument);
}

static int sector_size(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int traits_of(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = look_at_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = traits_of,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags, int *got)
{
    struct file *f = (struct file *)out;
    (void)vfs;
    f->base.pMethods = NULL;
    f->real = (sqlite3_file *)(f + 1);
    if (due(FAULT_IOERR)) {
        return SQLITE_CANTOPEN;
    }
    int result = system_files->xOpen(system_files, name, f->real, flags, got);
    f->base.pMethods = f->real->pMethods != NULL ? &methods : NULL;
    return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int durably)
{
    (void)vfs;
    return due(FAULT_IOERR) ? SQLITE_IOERR_DELETE
                            : system_files->xDelete(system_files, name, durably);
}

static int look_at_file(sqlite3_vfs *vfs, const char *name, int flags, int *there)
{
    (void)vfs;
    return due(FAULT_IOERR) ? SQLITE_IOERR_ACCESS
                            : system_files->xAccess(system_files, name, flags, there);
}

/* --- memory ---------------------------------------------------------------------------------- */

static void *take(int size)
{
    return due(FAULT_NOMEM) ? NULL : system_memory.xMalloc(size);
}

static void *take_more(void *old, int size)
{
    return due(FAULT_NOMEM) ? NULL : system_memory.xRealloc(old, size);
}

/* --- statements ------------------------------------------------------------------------------ */

static int deny(void *context, int action, const char *a, const char *b, const char *c,
                const char *d)
{
    (void)context, (void)action, (void)a, (void)b, (void)c, (void)d;
    return due(FAULT_DENY) ? SQLITE_DENY : SQLITE_OK;
}

static int interrupt(void *context)
{
    (void)context;
    return due(FAULT_INTERRUPT);
}

static int watch(sqlite3 *db, char **message, const void *api)
{
    (void)message, (void)api;
    sqlite3_progress_handler(db, 1, interrupt, NULL);
    return sqlite3_set_authorizer(db, deny, NULL);
}

/* Installs the wrappers. Disables SQLite's lookaside memory, so that every allocation comes
 * here. */
bool faults_install(void)
{
    static sqlite3_mem_methods memory;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory) != SQLITE_OK) {
        return false;
    }
    memory = system_memory;
    memory.xMalloc = take;
    memory.xRealloc = take_more;
    bool taken = sqlite3_config(SQLITE_CONFIG_MALLOC, &memory) == SQLITE_OK &&
                 sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) == SQLITE_OK;
    system_files = sqlite3_vfs_find(NULL);
    files = *system_files;
    files.zName = "faults";
    files.szOsFile = (int)sizeof(struct file) + system_files->szOsFile;
    files.xOpen = open_file;
    files.xDelete = delete_file;
    files.xAccess = look_at_file;
    return taken && sqlite3_vfs_register(&files, 1) == SQLITE_OK &&
           sqlite3_auto_extension((void (*)(void))watch) == SQLITE_OK;
}
