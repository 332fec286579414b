/* Makes file operations fail: LD_PRELOAD.
 *
 *   FAULT_UNDER    folder; operations on files below it are counted
 *   FAULT_COUNTER  file of at least 16 bytes, shared by all processes: how many there were, how many failed
 *   FAULT_AT       the number (from 1) of the one that fails; 0: none
 *   FAULT_ERRNO    with which error; 0: the process is killed right before it, and removals count, too
 *   FAULT_STICKY   1: and every one after it
 *   FAULT_ONLY     "sync journal.0": only such operations, on files whose names contain that, are counted
 *   FAULT_TRACE    file that gets a line for each: what, and on which file; and "record" after a write of a checkpoint's
 *
 * Counted: write, pwrite, fsync, fdatasync, rename, open for creating, ftruncate, and mmap of memory that processes share
 * (staging). The recorder's writer is a copy of the process: the shim and its counter are in it, too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static long *counter;
static long at;
static int error_number, sticky, trace = -1;
static char under[PATH_MAX];
static size_t under_len;

#define REAL(name, type, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

/* Through the kernel, past the functions below. */
static void note(const char *what, const char *path) {
    char line[PATH_MAX + 32];
    int len = snprintf(line, sizeof line, "%s %s\n", what, path);
    if (trace >= 0 && syscall(SYS_write, trace, line, (size_t)len) < 0) trace = -1;
}

static void *real_mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset) {
    REAL("mmap", void *, void *, size_t, int, int, int, off_t);
    return real(address, len, protection, flags, fd, offset);
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("FAULT_UNDER"), *file = getenv("FAULT_COUNTER");
    if (!folder || !file) return;
    int fd = open(file, O_RDWR);
    if (fd < 0) return;
    void *shared = real_mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED) return;
    snprintf(under, sizeof under, "%s", folder);
    under_len = strlen(under);
    at = atol(getenv("FAULT_AT") ? getenv("FAULT_AT") : "0");
    error_number = atoi(getenv("FAULT_ERRNO") ? getenv("FAULT_ERRNO") : "28");
    sticky = getenv("FAULT_STICKY") && *getenv("FAULT_STICKY") == '1';
    counter = shared;
}

/* Whether FAULT_ONLY, if there is one, speaks of this operation. */
static int is_meant(const char *what, const char *path) {
    const char *only = getenv("FAULT_ONLY"), *name = strrchr(path, '/');
    size_t len = strlen(what);
    if (!only || !*only) return 1;
    return strncmp(only, what, len) == 0 && only[len] == ' ' && name && strstr(name, only + len + 1) != NULL;
}

/* Counts one operation; 1 when it is to fail, with errno set. */
static int counted(void) {
    long number = __atomic_add_fetch(counter, 1, __ATOMIC_SEQ_CST);
    if (at == 0 || (sticky ? number < at : number != at)) return 0;
    __atomic_add_fetch(counter + 1, 1, __ATOMIC_SEQ_CST);
    if (error_number == 0) kill(getpid(), SIGKILL);
    errno = error_number;
    return 1;
}

static int is_under(const char *path) {
    char whole[PATH_MAX];
    if (path[0] != '/') {
        size_t len;
        if (!getcwd(whole, sizeof whole)) return 0;
        len = strlen(whole);
        snprintf(whole + len, sizeof whole - len, "/%s", path);
        path = whole;
    }
    return strncmp(path, under, under_len) == 0;
}

static int fails(const char *what, const char *path) {
    if (!counter || !is_under(path)) return 0;
    int before = errno;
    if (getenv("FAULT_TRACE")) {
        /* the recorder's writer closes descriptors that it does not know */
        static pid_t owner;
        if (owner != getpid()) {
            owner = getpid();
            trace = (int)syscall(SYS_openat, AT_FDCWD, getenv("FAULT_TRACE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        }
        note(what, path);
    }
    errno = before;
    return is_meant(what, path) && counted();
}

static int fails_fd(const char *what, int fd) {
    char link[64], path[PATH_MAX];
    if (!counter) return 0;
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    errno = before;
    if (len <= 0) return 0;
    path[len] = 0;
    return fails(what, path);
}

/* The journal's record of a checkpoint: its kind, then a JSON object. */
static int fails_write(int fd, const void *bytes, size_t len) {
    int failed = fails_fd("write", fd), before = errno;
    if (counter && trace >= 0 && memmem(bytes, len, "checkpoint{", 11)) note("record", "journal");
    errno = before;
    return failed;
}

ssize_t write(int fd, const void *bytes, size_t len) {
    REAL("write", ssize_t, int, const void *, size_t);
    return fails_write(fd, bytes, len) ? -1 : real(fd, bytes, len);
}

#define PWRITE(symbol) \
    ssize_t symbol(int fd, const void *bytes, size_t len, off_t offset) { \
        REAL(#symbol, ssize_t, int, const void *, size_t, off_t); \
        return fails_write(fd, bytes, len) ? -1 : real(fd, bytes, len, offset); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define ON_FD(symbol) \
    int symbol(int fd) { \
        REAL(#symbol, int, int); \
        return fails_fd("sync", fd) ? -1 : real(fd); \
    }
ON_FD(fsync)
ON_FD(fdatasync)

#define TRUNCATE(symbol) \
    int symbol(int fd, off_t len) { \
        REAL(#symbol, int, int, off_t); \
        return fails_fd("cut", fd) ? -1 : real(fd, len); \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

int rename(const char *from, const char *to) {
    REAL("rename", int, const char *, const char *);
    return fails("rename", to) ? -1 : real(from, to);
}

#define OPEN(symbol) \
    int symbol(const char *path, int flags, ...) { \
        REAL(#symbol, int, const char *, int, ...); \
        va_list rest; \
        va_start(rest, flags); \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; \
        va_end(rest); \
        return (flags & O_CREAT) && fails("create", path) ? -1 : real(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define MMAP(symbol) \
    void *symbol(void *address, size_t len, int protection, int flags, int fd, off_t offset) { \
        int staging = (flags & MAP_SHARED) && (flags & MAP_ANONYMOUS); \
        if (counter && staging && is_meant("map", "/staging") && counted()) return MAP_FAILED; \
        return real_mmap(address, len, protection, flags, fd, offset); \
    }
MMAP(mmap)
MMAP(mmap64)

static int removal(int folder, const char *path) {
    char link[64], whole[PATH_MAX];
    if (!counter || error_number != 0) return 0;
    if (path[0] == '/' || folder == AT_FDCWD) return fails("remove", path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t len = readlink(link, whole, sizeof whole - 1);
    if (len <= 0) return 0;
    snprintf(whole + len, sizeof whole - (size_t)len, "/%s", path);
    return fails("remove", whole);
}

#define REMOVE(symbol) \
    int symbol(const char *path) { \
        REAL(#symbol, int, const char *); \
        return removal(AT_FDCWD, path) ? -1 : real(path); \
    }
REMOVE(unlink)
REMOVE(rmdir)

int unlinkat(int folder, const char *path, int flags) {
    REAL("unlinkat", int, int, const char *, int);
    return removal(folder, path) ? -1 : real(folder, path, flags);
}
