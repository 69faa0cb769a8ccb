// SPDX-License-Identifier: MIT

#ifndef NANO_SHA256_INTERNAL_H
#define NANO_SHA256_INTERNAL_H

#include "include/nano_sha256.h"

/// The round constants, FIPS 180-4 section 4.2.2.
extern const uint32_t nano_sha256_constants[64];

/// Whether the processor has SHA instructions that `nano_sha256_blocks_accelerated` uses.
int nano_sha256_is_accelerated(void);
void nano_sha256_blocks_accelerated(uint32_t state[8], const uint8_t *data, size_t blocks);

#endif
