// SPDX-License-Identifier: MIT

/// Random numbers that are the same for the same seed on every machine (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014).
package struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The same seed gives the same numbers.
  package init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A generator whose numbers have nothing to do with those that follow here.
  package mutating func split() -> SplitMix { SplitMix(seed: next()) }
}

extension RandomNumberGenerator {
  /// One element; the list must not be empty.
  package mutating func pick<Element>(_ list: [Element]) -> Element {
    list[number(0...(list.count - 1))]
  }
  /// A number of the range, each as often as the others.
  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &self)
  }
  /// True once in so many times.
  package mutating func oneIn(_ times: Int) -> Bool { number(1...times) == 1 }
}
