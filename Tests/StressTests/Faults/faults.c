// SPDX-License-Identifier: MIT

#include "faults.h"

#include "watched.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint armed_kinds;
static atomic_llong calls;
static atomic_llong struck;
static int64_t target;
static int armed_error;
static bool from_then_on;

void faults_arm(uint32_t kinds, int64_t n, int error, bool all) {
  target = n;
  armed_error = error;
  from_then_on = all;
  atomic_store(&calls, 0);
  atomic_store(&struck, 0);
  atomic_store(&armed_kinds, kinds);
}

int64_t faults_disarm(void) {
  atomic_store(&armed_kinds, 0);
  return atomic_load(&calls);
}

int64_t faults_struck(void) { return atomic_load(&struck); }

int faults_strike(uint32_t kind) {
  if ((atomic_load_explicit(&armed_kinds, memory_order_relaxed) & kind) == 0) return 0;
  int64_t n = atomic_fetch_add(&calls, 1);
  if (from_then_on ? n < target : n != target) return 0;
  atomic_fetch_add(&struck, 1);
  return armed_error;
}

// The log, an array that grows by doubling.

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_recording;
static faults_entry *entries;
static int64_t count, capacity;

void faults_record(void) {
  faults_forget();
  atomic_store(&is_recording, true);
}

void faults_forget(void) {
  atomic_store(&is_recording, false);
  pthread_mutex_lock(&log_lock);
  for (int64_t i = 0; i < count; i++) {
    free((void *)entries[i].bytes);
    free((void *)entries[i].name);
  }
  free(entries);
  entries = NULL;
  count = capacity = 0;
  pthread_mutex_unlock(&log_lock);
}

static char *copy(const void *bytes, int64_t length) {
  char *made = malloc((size_t)length + 1);
  memcpy(made, bytes, (size_t)length);
  made[length] = 0;
  return made;
}

void faults_log(int32_t kind, int32_t file, int64_t offset, int64_t length, const void *bytes,
                const char *name) {
  if (!atomic_load_explicit(&is_recording, memory_order_relaxed)) return;
  faults_entry entry = {kind, file, offset, length, NULL, NULL};
  if (bytes) entry.bytes = (const uint8_t *)copy(bytes, length);
  if (name) entry.name = copy(name, (int64_t)strlen(name));
  pthread_mutex_lock(&log_lock);
  if (count == capacity) {
    capacity = capacity ? capacity * 2 : 1024;
    entries = realloc(entries, (size_t)capacity * sizeof(faults_entry));
  }
  entries[count++] = entry;
  pthread_mutex_unlock(&log_lock);
}

void faults_mark(int64_t mark) { faults_log(FAULTS_LOG_MARK, 0, 0, mark, NULL, NULL); }

int64_t faults_count(void) {
  pthread_mutex_lock(&log_lock);
  int64_t result = count;
  pthread_mutex_unlock(&log_lock);
  return result;
}

faults_entry faults_at(int64_t index) {
  pthread_mutex_lock(&log_lock);
  faults_entry entry = entries[index];
  pthread_mutex_unlock(&log_lock);
  return entry;
}
