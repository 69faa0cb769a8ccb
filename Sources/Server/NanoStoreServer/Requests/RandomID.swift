// SPDX-License-Identifier: MIT

/// Random identifiers in the form of CouchDB's.
enum RandomID {
  /// Returns 32 hexadecimal digits.
  static func text() -> String {
    var generator = SystemRandomNumberGenerator()
    return [generator.next(), generator.next()].map { (word: UInt64) in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
