// SPDX-License-Identifier: MIT

import NanoDocument

/// JSON as `NSJSONSerialization` writes it, which includes numbers that a document cannot hold.
enum LegacyJSON {
  static func object(
    _ bytes: [UInt8], _ notes: inout ConversionNotes
  ) throws(LegacyFailure) -> DocumentObject {
    guard case .object(let object) = try value(bytes, &notes) else {
      throw LegacyFailure("the JSON is not an object")
    }
    return object
  }

  static func value(
    _ bytes: [UInt8], _ notes: inout ConversionNotes
  ) throws(LegacyFailure) -> DocumentValue {
    // Other tools may have written a byte order mark.
    let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    do throws(StoreError) {
      return noted(try DocumentValue(json: bytes, dialect: .plain), &notes)
    } catch {
      guard error.code == .invalidJSON, let rewritten = withoutLargeNumbers(bytes),
        let value = try? DocumentValue(json: rewritten.bytes, dialect: .plain)
      else {
        let offset = error[.byteOffset].map { " at byte \($0)" } ?? ""
        throw LegacyFailure("the JSON is not valid\(offset): \(error.reason)")
      }
      notes.add(.largeInteger, rewritten.count)
      return noted(value, &notes)
    }
  }

  private static func noted(_ value: DocumentValue, _ notes: inout ConversionNotes) -> DocumentValue
  {
    switch value {
    case .object(let object):
      for (name, value) in object {
        if name.utf8.contains(UInt8(ascii: ".")) { notes.add(.nameWithPeriod) }
        _ = noted(value, &notes)
      }
    case .array(let elements): for element in elements { _ = noted(element, &notes) }
    default: break
    }
    return value
  }

  /// Returns the text with numbers beyond 64 bits, or beyond doubles, as doubles if those are
  /// exact, otherwise as strings; nil if there are none.
  private static func withoutLargeNumbers(_ bytes: [UInt8]) -> (bytes: [UInt8], count: Int)? {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 64)
    var count = 0
    var at = 0
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\"") {
        let end = endOfString(bytes, at)
        result += bytes[at..<end]
        at = end
      } else if byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) {
        let number = bytes[at...].prefix { "+-.eE0123456789".utf8.contains($0) }
        let text = String(decoding: number, as: UTF8.self)
        if (try? DocumentValue(json: text, dialect: .plain)) == nil, let value = converted(text) {
          result += value
          count += 1
        } else {
          result += number
        }
        at = number.endIndex
      } else {
        result.append(byte)
        at += 1
      }
    }
    return count > 0 ? (result, count) : nil
  }

  private static func converted(_ number: String) -> [UInt8]? {
    switch ExtendedJSON.number(number) {
    case .double(let value): Array("\(value)".utf8)
    case .string(let text): Array("\"\(text)\"".utf8)
    default: nil
    }
  }

  private static func endOfString(_ bytes: [UInt8], _ start: Int) -> Int {
    var at = start + 1
    while at < bytes.count {
      if bytes[at] == UInt8(ascii: "\\") {
        at += 2
      } else if bytes[at] == UInt8(ascii: "\"") {
        return at + 1
      } else {
        at += 1
      }
    }
    return bytes.count
  }
}
