// SPDX-License-Identifier: MIT

package import Foundation

/// Base64 conversion between bytes and a buffer, without an intermediate string.
package enum Base64 {
  package static func encodedLength(_ count: Int) -> Int { (count + 2) / 3 * 4 }

  package static func encode(_ bytes: UnsafeRawBufferPointer, to out: UnsafeMutablePointer<UInt8>) {
    let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    let letters = alphabet.utf8Start
    var out = out
    var at = 0
    while at &+ 3 <= bytes.count {
      let word = Int(bytes[at]) << 16 | Int(bytes[at &+ 1]) << 8 | Int(bytes[at &+ 2])
      out[0] = letters[word >> 18]
      out[1] = letters[word >> 12 & 63]
      out[2] = letters[word >> 6 & 63]
      out[3] = letters[word & 63]
      out += 4
      at &+= 3
    }
    guard at < bytes.count else { return }
    let second = at + 1 < bytes.count ? Int(bytes[at + 1]) : nil
    let word = Int(bytes[at]) << 16 | (second ?? 0) << 8
    out[0] = letters[word >> 18]
    out[1] = letters[word >> 12 & 63]
    out[2] = second == nil ? 0x3D : letters[word >> 6 & 63]
    out[3] = 0x3D
  }

  /// Decodes Base64, or returns `nil` if the text is not well formed.
  package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
    guard let length = decodedLength(text) else { return nil }
    guard length > 0 else { return Data() }
    var data = Data(count: length)
    let isValid = data.withUnsafeMutableBytes { (out: UnsafeMutableRawBufferPointer) -> Bool in
      decode(text, to: out)
    }
    return isValid ? data : nil
  }

  /// Returns the length of the decoded data, or `nil` if the text's length is not valid.
  package static func decodedLength(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
    guard text.count % 4 == 0 else { return nil }
    return text.isEmpty ? 0 : text.count / 4 * 3 - padding(text)
  }

  private static func padding(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    text[text.count - 1] != 0x3D ? 0 : text[text.count - 2] != 0x3D ? 1 : 2
  }

  /// Decodes ``decodedLength(_:)`` bytes of nonempty text; returns whether the text is well formed.
  package static func decode(
    _ text: UnsafeBufferPointer<UInt8>, to out: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let padding = padding(text)
    let values = values
    let whole = padding == 0 ? text.count : text.count - 4
    var wrong: UInt8 = 0
    var to = 0
    var from = 0
    while from < whole {
      let (a, b) = (values[Int(text[from])], values[Int(text[from &+ 1])])
      let (c, d) = (values[Int(text[from &+ 2])], values[Int(text[from &+ 3])])
      wrong |= a | b | c | d
      out[to] = a << 2 | b >> 4
      out[to &+ 1] = b << 4 | c >> 2
      out[to &+ 2] = c << 6 | d
      from &+= 4
      to &+= 3
    }
    if padding > 0 {
      let (a, b) = (values[Int(text[whole])], values[Int(text[whole + 1])])
      let c = padding == 1 ? values[Int(text[whole + 2])] : 0
      wrong |= a | b | c
      out[to] = a << 2 | b >> 4
      if padding == 1 { out[to + 1] = b << 4 | c >> 2 }
      // Unused bits must be zero, or two encodings would represent the same data.
      if (padding == 1 ? c << 6 : b << 4) != 0 { wrong = 0x80 }
    }
    return wrong & 0x80 == 0
  }

  /// The value of each Base64 character; 0x80 for other bytes.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0x80, count: 256)
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (value, letter) in letters.utf8.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()
}
