// SPDX-License-Identifier: MIT

#include "sha256.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

int nano_sha256_is_accelerated(void) {
  unsigned a, b, c, d;
  // SSSE3 and SSE4.1, then the SHA extensions (Intel SDM, CPUID leaves 1 and 7).
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 9)) || !(c & (1u << 19))) return 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
  return (b & (1u << 29)) != 0;
}

// The instructions keep the state as (a, b, e, f) and (c, d, g, h), and do two rounds each.
__attribute__((target("sha,sse4.1,ssse3"))) void nano_sha256_blocks_accelerated(
    uint32_t state[8], const uint8_t *data, size_t blocks) {
  const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0bULL, 0x0405060700010203ULL);
  __m128i dcba = _mm_loadu_si128((const __m128i *)&state[0]);
  __m128i hgfe = _mm_loadu_si128((const __m128i *)&state[4]);
  __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1);
  __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; blocks > 0; blocks--, data += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; i++) {
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), order);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) {
      __m128i sum = _mm_add_epi32(
          w[i & 3], _mm_loadu_si128((const __m128i *)&nano_sha256_constants[4 * i]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (i < 12) {
        // w[t] = s1(w[t-2]) + w[t-7] + s0(w[t-15]) + w[t-16]
        __m128i next = _mm_sha256msg1_epu32(w[i & 3], w[(i + 1) & 3]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
        w[i & 3] = _mm_sha256msg2_epu32(next, w[(i + 3) & 3]);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)&state[0], _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128((__m128i *)&state[4], _mm_alignr_epi8(dchg, feba, 8));
}

#elif defined(__aarch64__) && (defined(__APPLE__) || defined(__linux__))

#include <arm_neon.h>

#if defined(__APPLE__)
// Every 64-bit processor of Apple's platforms has them.
int nano_sha256_is_accelerated(void) { return 1; }
#else
#include <sys/auxv.h>
// HWCAP_SHA2 of <asm/hwcap.h>.
int nano_sha256_is_accelerated(void) { return (getauxval(AT_HWCAP) & (1u << 6)) != 0; }
#endif

__attribute__((target("sha2"))) void nano_sha256_blocks_accelerated(
    uint32_t state[8], const uint8_t *data, size_t blocks) {
  uint32x4_t abcd = vld1q_u32(&state[0]);
  uint32x4_t efgh = vld1q_u32(&state[4]);
  for (; blocks > 0; blocks--, data += 64) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t w[4];
    for (int i = 0; i < 4; i++) {
      w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(data + 16 * i)));
    }
    for (int i = 0; i < 16; i++) {
      uint32x4_t sum = vaddq_u32(w[i & 3], vld1q_u32(&nano_sha256_constants[4 * i]));
      uint32x4_t abcd_old = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, abcd_old, sum);
      if (i < 12) {
        w[i & 3] = vsha256su1q_u32(
            vsha256su0q_u32(w[i & 3], w[(i + 1) & 3]), w[(i + 2) & 3], w[(i + 3) & 3]);
      }
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(&state[0], abcd);
  vst1q_u32(&state[4], efgh);
}

#else

int nano_sha256_is_accelerated(void) { return 0; }

void nano_sha256_blocks_accelerated(uint32_t state[8], const uint8_t *data, size_t blocks) {
  nano_sha256_blocks_portable(state, data, blocks);
}

#endif
