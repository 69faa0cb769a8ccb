// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

/// The limits within which a response contains values of documents.
struct WireLimits: Sendable {
  /// The maximum number of characters of a string, and of bytes of data.
  var text: Int
  /// The maximum number of elements of an array, and of fields of an object.
  var elements: Int

  /// For pages of documents.
  static let row = WireLimits(text: 400, elements: 60)
  /// For a single document.
  static let document = WireLimits(text: 200_000, elements: 5_000)
}

/// Writes values of documents as Extended JSON from which a browser recovers every type and digit.
///
/// A number without a wrapper is an integer below 2⁵³, or has a fraction. Other numbers are `{"$numberLong": "…"}`,
/// `{"$numberDecimal": "…"}` and `{"$numberDouble": "…"}`. Names that JavaScript would reorder or interpret are in
/// pairs, `{"$fields": [["1", …]]}`. A relative URL is `{"$url": …, "$relative": …, "$base": …}`, so that pages can show
/// the resolved one. What exceeds the limits is `{"$cut": …, "$size": n}` with the size of the whole.
struct WireValue {
  private let limits: WireLimits

  init(_ limits: WireLimits) { self.limits = limits }

  func write(_ value: DocumentValue, to writer: inout WireWriter, depth: Int = 0) {
    guard depth < Self.maximumDepth else {
      return cut("\"…\"", size: nil, to: &writer)
    }
    switch value {
    case .null: writer.raw("null")
    case .bool(let value): writer.raw(value ? "true" : "false")
    case .int(let number): write(number, to: &writer)
    case .double(let number): write(number, to: &writer)
    case .string(let text): write(text, to: &writer)
    case .date, .decimal: writer.raw(value.jsonString())
    case .url(let url): write(url, to: &writer)
    case .data(let data): write(data, to: &writer)
    case .array(let elements): write(elements, to: &writer, depth)
    case .object(let object): write(object, to: &writer, depth)
    }
  }

  /// Deeper values are cut, so that a page that shows them does not exhaust its stack; arbitrary.
  private static let maximumDepth = 200
  /// The range in which JavaScript's numbers are exact.
  private static let exactIntegers =
    -9_007_199_254_740_991...9_007_199_254_740_991 as ClosedRange<Int64>

  private func write(_ number: Int64, to writer: inout WireWriter) {
    guard Self.exactIntegers.contains(number) else {
      return writer.raw("{\"$numberLong\":\"\(number)\"}")
    }
    writer.raw(String(number))
  }

  private func write(_ number: Double, to writer: inout WireWriter) {
    // Negative zero, infinities and integral numbers are not distinguished by JSON.parse.
    guard number.isFinite, number.rounded() != number else {
      let text =
        number.isNaN
        ? "NaN" : number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
      return writer.raw("{\"$numberDouble\":\"\(text)\"}")
    }
    writer.raw("\(number)")
  }

  private func write(_ text: String, to writer: inout WireWriter) {
    guard text.utf8.count > limits.text, text.count > limits.text else {
      return writer.string(text)
    }
    cut(size: text.count, to: &writer) { $0.string(String(text.prefix(limits.text))) }
  }

  private func write(_ url: URL, to writer: inout WireWriter) {
    let text = url.absoluteString
    writer.raw("{\"$url\":")
    writer.string(String(text.prefix(limits.text)))
    let base = url.baseURL?.absoluteString ?? ""
    if max(text.count, base.count + url.relativeString.count) > limits.text {
      writer.raw(",\"$size\":\(text.count)")
    } else if url.baseURL != nil {
      writer.raw(",\"$relative\":")
      writer.string(url.relativeString)
      writer.raw(",\"$base\":")
      writer.string(base)
    }
    writer.raw("}")
  }

  private func write(_ data: Data, to writer: inout WireWriter) {
    let text = data.prefix(limits.text).base64EncodedString()
    writer.raw("{\"$binary\":\"\(text)\",\"$type\":\"00\",\"$size\":\(data.count)}")
  }

  private func write(_ elements: [DocumentValue], to writer: inout WireWriter, _ depth: Int) {
    let list = { (writer: inout WireWriter) in
      writer.list("[", "]", elements.prefix(limits.elements)) {
        write($1, to: &$0, depth: depth + 1)
      }
    }
    guard elements.count > limits.elements else { return list(&writer) }
    cut(size: elements.count, to: &writer, list)
  }

  private func write(_ object: DocumentObject, to writer: inout WireWriter, _ depth: Int) {
    let isPlain = object.prefix(limits.elements).allSatisfy { Self.isPlain($0.name) }
    let fields = { (writer: inout WireWriter) in
      if isPlain {
        writer.list("{", "}", object.prefix(limits.elements)) { writer, field in
          writer.string(field.name)
          writer.raw(":")
          write(field.value, to: &writer, depth: depth + 1)
        }
      } else {
        writer.raw("{\"$fields\":")
        writer.list("[", "]", object.prefix(limits.elements)) { writer, field in
          writer.raw("[")
          writer.string(field.name)
          writer.raw(",")
          write(field.value, to: &writer, depth: depth + 1)
          writer.raw("]")
        }
        writer.raw("}")
      }
    }
    guard object.count > limits.elements else { return fields(&writer) }
    cut(size: object.count, to: &writer, fields)
  }

  /// Returns whether an object of JavaScript keeps a name in its place, and the name is no wrapper's.
  private static func isPlain(_ name: String) -> Bool {
    guard let first = name.utf8.first else { return true }
    // Integers come first in JavaScript's order; `__proto__` sets the prototype.
    return first != UInt8(ascii: "$") && !(0x30...0x39).contains(first) && name != "__proto__"
  }

  private func cut(_ json: String, size: Int?, to writer: inout WireWriter) {
    writer.raw("{\"$cut\":\(json)" + (size.map { ",\"$size\":\($0)" } ?? "") + "}")
  }

  private func cut(size: Int, to writer: inout WireWriter, _ write: (inout WireWriter) -> Void) {
    writer.raw("{\"$cut\":")
    write(&writer)
    writer.raw(",\"$size\":\(size)}")
  }
}
