// SPDX-License-Identifier: MIT

#ifndef NANO_FAULTS_WATCHED_H
#define NANO_FAULTS_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

// Returns the error number with which this call must fail, or 0 if it must succeed.
int faults_strike(uint32_t kind);

// Records a call if recording is on. Copies bytes and name.
void faults_log(int32_t kind, int32_t file, int64_t offset, int64_t length, const void *bytes,
                const char *name);

#endif
