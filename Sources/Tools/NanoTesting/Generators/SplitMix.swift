// SPDX-License-Identifier: MIT

/// A pseudorandom number generator that produces the same sequence on every machine (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014).
package struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator; equal seeds produce equal sequences.
  package init(seed: UInt64) { state = seed }

  /// Returns the next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Returns a generator with an independent sequence.
  package mutating func split() -> SplitMix { SplitMix(seed: next()) }
}

extension RandomNumberGenerator {
  /// Returns a random element of a nonempty list.
  package mutating func pick<Element>(_ list: [Element]) -> Element {
    list[number(0...(list.count - 1))]
  }
  /// Returns a uniformly distributed number in a range.
  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }
  /// Returns true with a probability of 1 in `times`.
  package mutating func oneIn(_ times: Int) -> Bool { number(1...times) == 1 }
}
