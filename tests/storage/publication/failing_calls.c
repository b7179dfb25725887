/* A library to be preloaded: makes one call to the operating system fail, or kills the process at it.

   Every call that concerns a path below a folder is counted, whatever it does: open, read, write, sync, rename, remove,
   make, truncate, list, lock, map, close. `failing_arm` says which one of them goes wrong, and how:

     FAIL        it returns an error, once
     FAIL_ON     it and every later one returns an error: the disk is gone
     SHORTEN     a write or read does half of what was asked for; other calls are not touched
     KILL        the process ends before it, by SIGKILL

   Without being armed, the library does nothing but pass calls on. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, FAIL, FAIL_ON, SHORTEN, KILL };
enum { PASS, FAILED, HALF };

static int mode = OFF;
static int failure = EIO;
static long chosen;
static long count;
static char below[PATH_MAX];
static char hit[64];              /* the kind of the call that went wrong */
static const char *kinds[1 << 16]; /* of all calls */

void failing_arm(int how, int number, long nth, const char *folder) {
  failure = number;
  chosen = nth;
  count = 0;
  hit[0] = 0;
  snprintf(below, sizeof below, "%s", folder);
  mode = how;
}

void failing_disarm(void) { mode = OFF; }
long failing_calls(void) { return count; }
const char *failing_hit(void) { return hit; }
const char *failing_kind(long nth) { return kinds[nth - 1]; }

static int decide(const char *call, const char *path, int sized) {
  if (mode == OFF || path == NULL || strncmp(path, below, strlen(below)) != 0) return PASS;
  const long number = __sync_add_and_fetch(&count, 1);
  if (number <= (long)(sizeof kinds / sizeof kinds[0])) kinds[number - 1] = call;
  if (number != chosen && !(mode == FAIL_ON && number > chosen)) return PASS;
  if (hit[0] == 0) snprintf(hit, sizeof hit, "%s", call);
  if (mode == KILL) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  if (mode == SHORTEN) return sized ? HALF : PASS;
  errno = failure;
  return FAILED;
}

static int decide_at(const char *call, int folder, const char *path) {
  if (mode == OFF || path == NULL) return PASS;
  if (path[0] == '/' || folder == AT_FDCWD) return decide(call, path, 0);
  char link[64], name[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  const ssize_t size = readlink(link, name, sizeof name - 1);
  if (size <= 0) return PASS;
  name[size] = 0;
  return decide(call, name, 0);
}

static int decide_fd(const char *call, int descriptor, int sized) {
  if (mode == OFF) return PASS;
  char link[64], name[PATH_MAX];
  const int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, name, sizeof name - 1);
  errno = saved;
  if (size <= 0) return PASS;
  name[size] = 0;
  return decide(call, name, sized);
}

#define NEXT(name) \
  static __typeof__(name) *next; \
  if (next == NULL) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define SIZED(call, size) \
  const int decided = decide_fd(call, descriptor, (size) > 1); \
  if (decided == FAILED) return -1
#define HALVED(size) (decided == HALF ? (size) / 2 : (size))

ssize_t read(int descriptor, void *data, size_t size) {
  NEXT(read);
  SIZED("read", size);
  return next(descriptor, data, HALVED(size));
}
ssize_t pread(int descriptor, void *data, size_t size, off_t at) {
  NEXT(pread);
  SIZED("read", size);
  return next(descriptor, data, HALVED(size), at);
}
ssize_t pread64(int descriptor, void *data, size_t size, off64_t at) {
  NEXT(pread64);
  SIZED("read", size);
  return next(descriptor, data, HALVED(size), at);
}
ssize_t readv(int descriptor, const struct iovec *parts, int number) {
  NEXT(readv);
  SIZED("read", 0);
  return next(descriptor, parts, number);
}
ssize_t write(int descriptor, const void *data, size_t size) {
  NEXT(write);
  SIZED("write", size);
  return next(descriptor, data, HALVED(size));
}
ssize_t pwrite(int descriptor, const void *data, size_t size, off_t at) {
  NEXT(pwrite);
  SIZED("write", size);
  return next(descriptor, data, HALVED(size), at);
}
ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t at) {
  NEXT(pwrite64);
  SIZED("write", size);
  return next(descriptor, data, HALVED(size), at);
}
ssize_t writev(int descriptor, const struct iovec *parts, int number) {
  NEXT(writev);
  SIZED("write", 0);
  return next(descriptor, parts, number);
}
ssize_t pwritev(int descriptor, const struct iovec *parts, int number, off_t at) {
  NEXT(pwritev);
  SIZED("write", 0);
  return next(descriptor, parts, number, at);
}
ssize_t copy_file_range(int from, off64_t *at, int descriptor, off64_t *to, size_t size, unsigned flags) {
  NEXT(copy_file_range);
  SIZED("write", size);
  return next(from, at, descriptor, to, HALVED(size), flags);
}
ssize_t sendfile(int descriptor, int from, off_t *at, size_t size) {
  NEXT(sendfile);
  SIZED("write", size);
  return next(descriptor, from, at, HALVED(size));
}
ssize_t sendfile64(int descriptor, int from, off64_t *at, size_t size) {
  NEXT(sendfile64);
  SIZED("write", size);
  return next(descriptor, from, at, HALVED(size));
}

#define ON_FD(name, call, result, parameters, ...) \
  result name parameters { \
    NEXT(name); \
    if (decide_fd(call, descriptor, 0) == FAILED) return -1; \
    return next(__VA_ARGS__); \
  }
ON_FD(fsync, "sync", int, (int descriptor), descriptor)
ON_FD(fdatasync, "sync", int, (int descriptor), descriptor)
ON_FD(ftruncate, "truncate", int, (int descriptor, off_t size), descriptor, size)
ON_FD(ftruncate64, "truncate", int, (int descriptor, off64_t size), descriptor, size)
ON_FD(fallocate, "truncate", int, (int descriptor, int how, off_t at, off_t size), descriptor, how, at, size)
ON_FD(flock, "lock", int, (int descriptor, int how), descriptor, how)

int close(int descriptor) { /* which is closed even where it fails */
  NEXT(close);
  const int decided = decide_fd("close", descriptor, 0);
  const int closed = next(descriptor);
  if (decided == FAILED) errno = failure;
  return decided == FAILED ? -1 : closed;
}

void *mmap(void *where, size_t size, int allowed, int flags, int descriptor, off_t at) {
  NEXT(mmap);
  if (descriptor >= 0 && decide_fd("map", descriptor, 0) == FAILED) return MAP_FAILED;
  return next(where, size, allowed, flags, descriptor, at);
}
void *mmap64(void *where, size_t size, int allowed, int flags, int descriptor, off64_t at) {
  NEXT(mmap64);
  if (descriptor >= 0 && decide_fd("map", descriptor, 0) == FAILED) return MAP_FAILED;
  return next(where, size, allowed, flags, descriptor, at);
}

#define ON_PATH(name, call, parameters, path, ...) \
  int name parameters { \
    NEXT(name); \
    if (decide(call, path, 0) == FAILED) return -1; \
    return next(__VA_ARGS__); \
  }
#define ON_PATH_AT(name, call, parameters, folder, path, ...) \
  int name parameters { \
    NEXT(name); \
    if (decide_at(call, folder, path) == FAILED) return -1; \
    return next(__VA_ARGS__); \
  }
ON_PATH(rename, "rename", (const char *from, const char *to), to, from, to)
ON_PATH_AT(renameat, "rename", (int a, const char *from, int b, const char *to), b, to, a, from, b, to)
ON_PATH_AT(renameat2, "rename", (int a, const char *from, int b, const char *to, unsigned how), b, to, a, from, b, to, how)
ON_PATH(link, "link", (const char *from, const char *to), to, from, to)
ON_PATH_AT(linkat, "link", (int a, const char *from, int b, const char *to, int how), b, to, a, from, b, to, how)
ON_PATH(unlink, "remove", (const char *path), path, path)
ON_PATH_AT(unlinkat, "remove", (int folder, const char *path, int how), folder, path, folder, path, how)
ON_PATH(rmdir, "remove", (const char *path), path, path)
ON_PATH(mkdir, "make", (const char *path, mode_t allowed), path, path, allowed)
ON_PATH_AT(mkdirat, "make", (int folder, const char *path, mode_t allowed), folder, path, folder, path, allowed)
ON_PATH(truncate, "truncate", (const char *path, off_t size), path, path, size)
ON_PATH(truncate64, "truncate", (const char *path, off64_t size), path, path, size)

DIR *opendir(const char *path) {
  NEXT(opendir);
  return decide("list", path, 0) == FAILED ? NULL : next(path);
}
DIR *fdopendir(int descriptor) {
  NEXT(fdopendir);
  return decide_fd("list", descriptor, 0) == FAILED ? NULL : next(descriptor);
}

#define OPENING \
  mode_t allowed = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list more; \
    va_start(more, flags); \
    allowed = va_arg(more, mode_t); \
    va_end(more); \
  }
int open(const char *path, int flags, ...) {
  NEXT(open);
  OPENING;
  return decide("open", path, 0) == FAILED ? -1 : next(path, flags, allowed);
}
int open64(const char *path, int flags, ...) {
  NEXT(open64);
  OPENING;
  return decide("open", path, 0) == FAILED ? -1 : next(path, flags, allowed);
}
int openat(int folder, const char *path, int flags, ...) {
  NEXT(openat);
  OPENING;
  return decide_at("open", folder, path) == FAILED ? -1 : next(folder, path, flags, allowed);
}
int openat64(int folder, const char *path, int flags, ...) {
  NEXT(openat64);
  OPENING;
  return decide_at("open", folder, path) == FAILED ? -1 : next(folder, path, flags, allowed);
}
