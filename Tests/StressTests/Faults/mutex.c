// SPDX-License-Identifier: MIT

// Annotates Swift's Mutex for ThreadSanitizer. Its fast paths are compiled into the program and instrumented. The slow
// paths, in which threads wait, are in a library built without the sanitizer, so a thread that had to wait would appear
// not to hold the lock. https://github.com/swiftlang/swift, stdlib/public/Synchronization/Mutex/LinuxImpl.swift

#if defined(__linux__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define MUTEX __attribute__((swift_context)) void *mutex

void __tsan_acquire(void *address);
void __tsan_release(void *address);

typedef __attribute__((swiftcall)) void (*Lock)(uint32_t state, MUTEX);
typedef __attribute__((swiftcall)) void (*Unlock)(MUTEX);

__attribute__((swiftcall)) void nano_lock_slow(uint32_t state, MUTEX) __asm__(LOCK);
__attribute__((swiftcall)) void nano_unlock_slow(MUTEX) __asm__(UNLOCK);

// Looks the function up each time, because a cached pointer would itself be a data race.
static void *next(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) abort();
  return function;
}

__attribute__((swiftcall)) void nano_lock_slow(uint32_t state, MUTEX) {
  ((Lock)next(LOCK))(state, mutex);
  __tsan_acquire(mutex);
}

__attribute__((swiftcall)) void nano_unlock_slow(MUTEX) {
  Unlock unlock = (Unlock)next(UNLOCK);
  __tsan_release(mutex);
  unlock(mutex);
}

#endif
#endif
