// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The form of a body that the server can query.
///
/// jsonb can represent nearly everything that documents contain. What it cannot represent, or would represent as a
/// different value, is written differently. Doubles with an exponent are written with all their digits, because a
/// large one without a decimal point would be an integer, and its shortest decimal a different number. NUL, which texts
/// on the server cannot contain, is written as U+FFFD.
enum QueryableBody {
  /// Returns the body for the server, which is `nil` if it is the document's, and whether the server would return a
  /// different document.
  static func json(
    _ body: UnsafeRawBufferPointer
  ) throws(StoreError) -> (changed: [UInt8]?, losesValues: Bool) {
    let found = findings(body)
    guard found.needsChange else { return (nil, found.hasNegativeZero) }
    var reader = JSONReader(body)
    let object = try reader.object()
    var out: [UInt8] = []
    out.reserveCapacity(body.count + 64)
    write(.object(object), to: &out)
    return (out, true)
  }

  /// Finds escaped NULs, which have six bytes, and exponents of numbers. Either may be part of a text, which only costs
  /// some time. The server's numbers have no negative zero.
  private static func findings(
    _ body: UnsafeRawBufferPointer
  ) -> (needsChange: Bool, hasNegativeZero: Bool) {
    var previous: UInt8 = 0
    var hasNegativeZero = false
    for index in body.indices {
      let byte = body[index]
      defer { previous = byte }
      if byte == UInt8(ascii: "u") {
        if previous == UInt8(ascii: "\\"), index + 4 < body.count,
          body[index + 1] == 0x30, body[index + 2] == 0x30, body[index + 3] == 0x30,
          body[index + 4] == 0x30
        {
          return (true, hasNegativeZero)
        }
      } else if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
        if previous >= 0x30, previous <= 0x39 { return (true, hasNegativeZero) }
      } else if byte == UInt8(ascii: "0"), previous == UInt8(ascii: "-") {
        hasNegativeZero = true
      }
    }
    return (false, hasNegativeZero)
  }

  /// Returns the text of a jsonb without the spaces that the server adds after colons and commas.
  static func compact(_ text: UnsafeRawBufferPointer) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(text.count)
    var isInText = false
    var isEscaped = false
    for byte in text {
      if isInText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInText = false
        }
      } else if byte == UInt8(ascii: " ") {
        continue
      } else if byte == UInt8(ascii: "\"") {
        isInText = true
      }
      out.append(byte)
    }
    return out
  }

  private static func write(_ value: DocumentValue, to out: inout [UInt8]) {
    switch value {
    case .object(let object):
      out.append(UInt8(ascii: "{"))
      for (index, field) in object.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        scalar(.string(PostgresFieldExpression.storedName(withoutNUL(field.name))), to: &out)
        out.append(UInt8(ascii: ":"))
        write(field.value, to: &out)
      }
      out.append(UInt8(ascii: "}"))
    case .array(let array):
      out.append(UInt8(ascii: "["))
      for (index, element) in array.enumerated() {
        if index > 0 { out.append(UInt8(ascii: ",")) }
        write(element, to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .double(let number) where number.isFinite && number.magnitude >= 0x1p53:
      out.append(contentsOf: (ComparisonKey.wholeDigits(number) + ".0").utf8)
    case .decimal(let decimal): write(decimal, to: &out)
    case .string(let text) where text.utf8.contains(0):
      scalar(.string(withoutNUL(text)), to: &out)
    default: scalar(value, to: &out)
    }
  }

  /// The nearest number of a large decimal has all its digits, as large doubles do.
  private static func write(_ decimal: DecimalValue, to out: inout [UInt8]) {
    let place = DecimalPlace(decimal)
    guard !place.isImplied, case .double(let near) = place.number, near.magnitude >= 0x1p53 else {
      return scalar(.decimal(decimal), to: &out)
    }
    let side = place.side.isEmpty ? "" : #""$side":"\#(place.side)","#
    let number = ComparisonKey.wholeDigits(near)
    out.append(contentsOf: #"{"$near":\#(number),\#(side)"$numberDecimal":"\#(decimal)"}"#.utf8)
  }

  private static func withoutNUL(_ text: String) -> String {
    guard text.utf8.contains(0) else { return text }
    return String(
      String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
  }

  private static func scalar(_ value: DocumentValue, to out: inout [UInt8]) {
    var writer = JSONWriter()
    writer.value(value)
    out.append(contentsOf: writer.bytes)
  }
}
