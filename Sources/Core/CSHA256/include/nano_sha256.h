// SPDX-License-Identifier: MIT

#ifndef NANO_SHA256_H
#define NANO_SHA256_H

#include <stddef.h>
#include <stdint.h>

/// The compression function of SHA-256 (FIPS 180-4), applied to whole blocks of 64 bytes.
///
/// Uses the processor's SHA instructions if it has them, which is determined at the first call.
void nano_sha256_blocks(uint32_t state[8], const uint8_t *data, size_t blocks);

/// The same without special instructions, for comparison.
void nano_sha256_blocks_portable(uint32_t state[8], const uint8_t *data, size_t blocks);

#endif
