// SPDX-License-Identifier: MIT

extension String {
  /// Returns the text in quotes, with quotes inside doubled.
  ///
  /// Works on bytes, so that a quote followed by a combining mark, which is a single character for `String`, counts as
  /// the quote that parsers see.
  ///
  /// - Precondition: The quote is an ASCII character.
  package func quoted(with quote: Unicode.Scalar) -> String {
    let quote = UInt8(ascii: quote)
    return String(unsafeUninitializedCapacity: 2 * utf8.count + 2) { buffer in
      var count = 0
      func append(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
      }
      append(quote)
      for byte in utf8 {
        append(byte)
        if byte == quote { append(byte) }
      }
      append(quote)
      return count
    }
  }
}
