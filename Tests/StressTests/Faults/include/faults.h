// SPDX-License-Identifier: MIT

// Stands between a program and the C library, on Linux: makes calls on the files of one folder fail, or writes
// them down so that the state of the disk after a power loss can be worked out. It is linked into the program
// itself; the dynamic linker gives its functions to every library that the program loads, SQLite among them.

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
  // Allocations of the SQLite library, not those of others: Swift cannot survive one that fails.
  FAULTS_ALLOCATE = 1 << 8,
};

// Whether calls can be caught here at all.
bool faults_available(void);

// Sets the folder whose files are meant; nothing else is ever touched, but allocations.
void faults_watch(const char *folder);

// Lets calls of these kinds fail with an error number: the n-th from here on, counted from 0, or all from
// the n-th on. A write that fails for lack of space writes its first half.
void faults_arm(uint32_t kinds, int64_t n, int error, bool from_then_on);

// Ends that and returns how many calls of those kinds there were.
int64_t faults_disarm(void);

// How many calls failed since they were armed.
int64_t faults_struck(void);

// Files of the folder that are open in this process.
int32_t faults_open_files(void);

// What was written down.
enum {
  FAULTS_LOG_CREATE = 1,     // name, file
  FAULTS_LOG_WRITE,          // file, offset, bytes
  FAULTS_LOG_TRUNCATE,       // file, length
  FAULTS_LOG_SYNC,           // file
  FAULTS_LOG_SYNC_FOLDER,    // the folder
  FAULTS_LOG_UNLINK,         // name
  FAULTS_LOG_RENAME,         // name, and the new one in bytes
  FAULTS_LOG_MARK,           // a mark of the program's own in length
};

typedef struct {
  int32_t kind;
  // A number for each file that was made, whatever its name becomes.
  int32_t file;
  int64_t offset;
  int64_t length;
  const uint8_t *bytes;
  // Without the folder.
  const char *name;
} faults_entry;

// Begins to write down; the folder must be empty.
void faults_record(void);
void faults_mark(int64_t mark);
int64_t faults_count(void);
faults_entry faults_at(int64_t index);
// Ends writing down, and forgets what was.
void faults_forget(void);

#endif
