// SPDX-License-Identifier: MIT

// Interposes C library functions on Linux. Makes calls on the files of one folder fail, or records them, so that
// the state of the disk after a power loss can be determined. The functions are linked into the program itself, and
// the dynamic linker resolves them for every library that the program loads, including SQLite.

#ifndef NANO_FAULTS_H
#define NANO_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

// Kinds of calls, as bits.
enum {
  FAULTS_OPEN = 1 << 0,
  FAULTS_READ = 1 << 1,
  FAULTS_WRITE = 1 << 2,
  FAULTS_SYNC = 1 << 3,
  FAULTS_TRUNCATE = 1 << 4,
  FAULTS_MAP = 1 << 5,
  FAULTS_UNLINK = 1 << 6,
  FAULTS_RENAME = 1 << 7,
  // Only allocations by the SQLite library, because Swift does not survive a failed allocation.
  FAULTS_ALLOCATE = 1 << 8,
};

// Returns whether interposing is supported on this platform.
bool faults_available(void);

// Sets the watched folder. Apart from allocations, only calls on its files are affected.
void faults_watch(const char *folder);

// Makes calls of these kinds fail with an error number: the n-th call from now on, counted from 0, or all calls
// starting with the n-th. A write that fails with ENOSPC writes its first half.
void faults_arm(uint32_t kinds, int64_t n, int error, bool from_then_on);

// Stops the fault injection, and returns the number of calls of those kinds.
int64_t faults_disarm(void);

// Returns the number of calls that failed since `faults_arm`.
int64_t faults_struck(void);

// Returns the number of open files of the folder in this process.
int32_t faults_open_files(void);

// The kinds of recorded calls, with the fields that they use.
enum {
  FAULTS_LOG_CREATE = 1,     // name, file
  FAULTS_LOG_WRITE,          // file, offset, bytes
  FAULTS_LOG_TRUNCATE,       // file, length
  FAULTS_LOG_SYNC,           // file
  FAULTS_LOG_SYNC_FOLDER,    // the folder
  FAULTS_LOG_UNLINK,         // name
  FAULTS_LOG_RENAME,         // name, and the new name in bytes
  FAULTS_LOG_MARK,           // a custom mark in length
};

typedef struct {
  int32_t kind;
  // A number for each created file, which does not change when the file is renamed.
  int32_t file;
  int64_t offset;
  int64_t length;
  const uint8_t *bytes;
  // Relative to the folder.
  const char *name;
} faults_entry;

// Starts recording. The folder must be empty.
void faults_record(void);
void faults_mark(int64_t mark);
int64_t faults_count(void);
faults_entry faults_at(int64_t index);
// Stops recording, and removes all entries.
void faults_forget(void);

#endif
