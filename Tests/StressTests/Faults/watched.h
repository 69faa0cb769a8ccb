// SPDX-License-Identifier: MIT

#ifndef NANO_FAULTS_WATCHED_H
#define NANO_FAULTS_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

// The error number that this call is to fail with; 0 if it is not to fail.
int faults_strike(uint32_t kind);

// Writes a call down, if calls are written down. Copies bytes and name.
void faults_log(int32_t kind, int32_t file, int64_t offset, int64_t length, const void *bytes,
                const char *name);

#endif
