// SPDX-License-Identifier: MIT

// The interposed C library functions, with both widths of file offsets, because libraries differ in which ones
// they were built with.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "faults.h"

#if !defined(__linux__)

bool faults_available(void) { return false; }
void faults_watch(const char *folder) { (void)folder; }
int32_t faults_open_files(void) { return 0; }

#else

#include "watched.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// The file of each open descriptor: 0 for unwatched files, FOLDER for the folder, otherwise the file number.
enum { DESCRIPTORS = 4096, FOLDER = -1, NAMES = 4096 };
static atomic_int descriptors[DESCRIPTORS];
static char folder[4096];
static size_t folder_length;

// The names and numbers of the files in the folder.
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char *name; int32_t file; } names[NAMES];
static int32_t last_file;

bool faults_available(void) { return true; }

void faults_watch(const char *path) {
  pthread_mutex_lock(&names_lock);
  for (int i = 0; i < NAMES; i++) {
    free(names[i].name);
    names[i].name = NULL;
  }
  last_file = 0;
  pthread_mutex_unlock(&names_lock);
  for (int i = 0; i < DESCRIPTORS; i++) atomic_store(&descriptors[i], 0);
  strncpy(folder, path, sizeof folder - 1);
  folder_length = strlen(folder);
}

int32_t faults_open_files(void) {
  int32_t open = 0;
  for (int i = 0; i < DESCRIPTORS; i++) open += atomic_load(&descriptors[i]) > 0;
  return open;
}

static int32_t file_of(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? atomic_load(&descriptors[descriptor]) : 0;
}

// Returns the name relative to the folder, or NULL for a path outside it.
static const char *name_of(const char *path) {
  if (!folder_length || strncmp(path, folder, folder_length)) return NULL;
  if (path[folder_length] == 0) return "";
  return path[folder_length] == '/' ? path + folder_length + 1 : NULL;
}

static int place_of(const char *name) {
  for (int i = 0; i < NAMES; i++)
    if (names[i].name && !strcmp(names[i].name, name)) return i;
  return -1;
}

static void forget_name(const char *name) {
  int place = place_of(name);
  if (place < 0) return;
  free(names[place].name);
  names[place].name = NULL;
}

static void keep_name(const char *name, int32_t file) {
  for (int i = 0; i < NAMES; i++) {
    if (names[i].name) continue;
    names[i].name = strdup(name);
    names[i].file = file;
    return;
  }
}

static int opened(int descriptor, const char *name, int flags, bool existed) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
  if (!*name) {
    atomic_store(&descriptors[descriptor], FOLDER);
    return descriptor;
  }
  pthread_mutex_lock(&names_lock);
  int place = place_of(name);
  int32_t file;
  if (place >= 0) {
    file = names[place].file;
  } else {
    file = ++last_file;
    keep_name(name, file);
    if (!existed) faults_log(FAULTS_LOG_CREATE, file, 0, 0, NULL, name);
  }
  pthread_mutex_unlock(&names_lock);
  atomic_store(&descriptors[descriptor], file);
  if (flags & O_TRUNC) faults_log(FAULTS_LOG_TRUNCATE, file, 0, 0, NULL, NULL);
  return descriptor;
}

#define FAIL(kind, value) \
  do { \
    int error = faults_strike(kind); \
    if (error) { \
      errno = error; \
      return value; \
    } \
  } while (0)

#define DEFINE_OPEN(function) \
  int function(const char *path, int flags, ...) { \
    REAL(function); \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
      va_list list; \
      va_start(list, flags); \
      mode = (mode_t)va_arg(list, int); \
      va_end(list); \
    } \
    const char *name = name_of(path); \
    if (!name) return real(path, flags, mode); \
    FAIL(FAULTS_OPEN, -1); \
    bool existed = access(path, F_OK) == 0; \
    return opened(real(path, flags, mode), name, flags, existed); \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

int close(int descriptor) {
  REAL(close);
  if (descriptor >= 0 && descriptor < DESCRIPTORS) atomic_store(&descriptors[descriptor], 0);
  return real(descriptor);
}

#define DEFINE_PREAD(function, offset_type) \
  ssize_t function(int descriptor, void *bytes, size_t length, offset_type offset) { \
    REAL(function); \
    if (file_of(descriptor)) FAIL(FAULTS_READ, -1); \
    return real(descriptor, bytes, length, offset); \
  }
DEFINE_PREAD(pread, off_t)
DEFINE_PREAD(pread64, off64_t)

ssize_t read(int descriptor, void *bytes, size_t length) {
  REAL(read);
  if (file_of(descriptor)) FAIL(FAULTS_READ, -1);
  return real(descriptor, bytes, length);
}

#define DEFINE_PWRITE(function, offset_type) \
  ssize_t function(int descriptor, const void *bytes, size_t length, offset_type offset) { \
    REAL(function); \
    int32_t file = file_of(descriptor); \
    if (!file) return real(descriptor, bytes, length, offset); \
    int error = faults_strike(FAULTS_WRITE); \
    if (error) { \
      if (error == ENOSPC && length > 1) (void)!real(descriptor, bytes, length / 2, offset); \
      errno = error; \
      return -1; \
    } \
    ssize_t written = real(descriptor, bytes, length, offset); \
    if (written > 0) faults_log(FAULTS_LOG_WRITE, file, offset, written, bytes, NULL); \
    return written; \
  }
DEFINE_PWRITE(pwrite, off_t)
DEFINE_PWRITE(pwrite64, off64_t)

ssize_t write(int descriptor, const void *bytes, size_t length) {
  REAL(write);
  int32_t file = file_of(descriptor);
  if (!file) return real(descriptor, bytes, length);
  FAIL(FAULTS_WRITE, -1);
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  ssize_t written = real(descriptor, bytes, length);
  if (written > 0) faults_log(FAULTS_LOG_WRITE, file, offset, written, bytes, NULL);
  return written;
}

#define DEFINE_SYNC(function) \
  int function(int descriptor) { \
    REAL(function); \
    int32_t file = file_of(descriptor); \
    if (!file) return real(descriptor); \
    FAIL(FAULTS_SYNC, -1); \
    /* The log represents the disk, so there is no need to sync. */ \
    faults_log(file == FOLDER ? FAULTS_LOG_SYNC_FOLDER : FAULTS_LOG_SYNC, file, 0, 0, NULL, NULL); \
    return 0; \
  }
DEFINE_SYNC(fsync)
DEFINE_SYNC(fdatasync)

#define DEFINE_TRUNCATE(function, offset_type) \
  int function(int descriptor, offset_type length) { \
    REAL(function); \
    int32_t file = file_of(descriptor); \
    if (!file) return real(descriptor, length); \
    FAIL(FAULTS_TRUNCATE, -1); \
    int result = real(descriptor, length); \
    if (!result) faults_log(FAULTS_LOG_TRUNCATE, file, 0, length, NULL, NULL); \
    return result; \
  }
DEFINE_TRUNCATE(ftruncate, off_t)
DEFINE_TRUNCATE(ftruncate64, off64_t)

#define DEFINE_MAP(function, offset_type) \
  void *function(void *place, size_t length, int protection, int flags, int descriptor, \
                 offset_type offset) { \
    REAL(function); \
    if (descriptor >= 0 && file_of(descriptor)) FAIL(FAULTS_MAP, MAP_FAILED); \
    return real(place, length, protection, flags, descriptor, offset); \
  }
DEFINE_MAP(mmap, off_t)
DEFINE_MAP(mmap64, off64_t)

int unlink(const char *path) {
  REAL(unlink);
  const char *name = name_of(path);
  if (!name) return real(path);
  FAIL(FAULTS_UNLINK, -1);
  int result = real(path);
  if (!result) {
    pthread_mutex_lock(&names_lock);
    forget_name(name);
    faults_log(FAULTS_LOG_UNLINK, 0, 0, 0, NULL, name);
    pthread_mutex_unlock(&names_lock);
  }
  return result;
}

int rename(const char *from, const char *to) {
  REAL(rename);
  const char *name = name_of(from), *made = name_of(to);
  if (!name || !made) return real(from, to);
  FAIL(FAULTS_RENAME, -1);
  int result = real(from, to);
  if (!result) {
    pthread_mutex_lock(&names_lock);
    int place = place_of(name);
    int32_t file = place < 0 ? 0 : names[place].file;
    forget_name(name);
    forget_name(made);
    if (file) keep_name(made, file);
    faults_log(FAULTS_LOG_RENAME, file, 0, (int64_t)strlen(made), made, name);
    pthread_mutex_unlock(&names_lock);
  }
  return result;
}

// Sanitizers interpose these functions themselves.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NANO_FAULTS_NO_ALLOCATION
#endif
#endif
#if !defined(NANO_FAULTS_NO_ALLOCATION)

// The code range of the SQLite library, to distinguish its allocations from others.
static uintptr_t sqlite_start, sqlite_end;

static int find_sqlite(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (!info->dlpi_name || !strstr(info->dlpi_name, "libsqlite3")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X)) continue;
    sqlite_start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    sqlite_end = sqlite_start + info->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

__attribute__((constructor)) static void find(void) { dl_iterate_phdr(find_sqlite, NULL); }

static bool is_sqlite(const void *caller) {
  return (uintptr_t)caller >= sqlite_start && (uintptr_t)caller < sqlite_end;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);

// Whether GRDB registers a function or a collation, which ends the process if SQLite has no memory for it.
static _Thread_local bool is_registering;

void *malloc(size_t size) {
  if (!is_registering && is_sqlite(__builtin_return_address(0))) FAIL(FAULTS_ALLOCATE, NULL);
  return __libc_malloc(size);
}

void *realloc(void *memory, size_t size) {
  if (!is_registering && is_sqlite(__builtin_return_address(0))) FAIL(FAULTS_ALLOCATE, NULL);
  return __libc_realloc(memory, size);
}

// The prefix of the names that GRDB registers.
static bool is_grdb(const char *name) { return strncmp(name, "swift", 5) == 0; }

int sqlite3_create_function_v2(
    void *connection, const char *name, int count, int encoding, void *context, void *call, void *step,
    void *last, void *destroy) {
  REAL(sqlite3_create_function_v2);
  is_registering = is_grdb(name);
  int code = real(connection, name, count, encoding, context, call, step, last, destroy);
  is_registering = false;
  return code;
}

int sqlite3_create_collation_v2(
    void *connection, const char *name, int encoding, void *context, void *compare, void *destroy) {
  REAL(sqlite3_create_collation_v2);
  is_registering = is_grdb(name);
  int code = real(connection, name, encoding, context, compare, destroy);
  is_registering = false;
  return code;
}

#endif
#endif
