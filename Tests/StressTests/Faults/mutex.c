// SPDX-License-Identifier: MIT

// Tells ThreadSanitizer of Swift's Mutex. Its quick paths are compiled into the program and seen; the slow ones, by
// which threads wait for each other, stand in a library that is not built with the sanitizer, so that whoever had to
// wait would seem to hold no lock. https://github.com/swiftlang/swift, stdlib/public/Synchronization/Mutex/LinuxImpl.swift

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

// Looked up each time: a pointer that is kept would be a race of its own.
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
