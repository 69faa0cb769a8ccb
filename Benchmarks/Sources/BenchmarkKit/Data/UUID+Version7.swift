// SPDX-License-Identifier: MIT

package import Foundation

extension UUID {
  /// Creates the version 7 UUID of the document with the given number. It is deterministic and ascending, as if forty
  /// documents were created per millisecond.
  package init(version7 number: Int) {
    let milliseconds = UInt64(1_700_000_000_000 + number / 40)
    var random = SplitMix(seed: UInt64(number) &+ 0xABCDEF)
    let sequence = UInt64(number % 40) << 6 | random.next() & 0x3F
    let high = milliseconds << 16 | 0x7000 | sequence
    let low = random.next() & ~(0b11 << 62) | 0b10 << 62
    self.init(bigEndian: high, low)
  }

  private init(bigEndian high: UInt64, _ low: UInt64) {
    func byte(_ word: UInt64, _ index: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * index))
    }
    self.init(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3),
        byte(high, 4), byte(high, 5), byte(high, 6), byte(high, 7),
        byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3),
        byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }
}
