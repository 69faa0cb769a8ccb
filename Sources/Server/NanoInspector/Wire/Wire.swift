// SPDX-License-Identifier: MIT

import NanoDocument

/// A JSON response of the API.
indirect enum Wire: Sendable {
  case null
  case bool(Bool)
  case int(Int)
  case double(Double)
  case string(String)
  case array([Wire])
  /// Fields, in order.
  case fields([(name: String, value: Wire)])
  /// A value of a document; see ``WireValue``.
  case value(DocumentValue, WireLimits)
  /// JSON that has been written before.
  case json([UInt8])

  /// The response as JSON.
  var json: [UInt8] {
    var writer = WireWriter()
    writer.write(self)
    return writer.bytes
  }

  static func optional(_ text: String?) -> Wire { text.map { .string($0) } ?? .null }
  static func optional(_ number: Int?) -> Wire { number.map { .int($0) } ?? .null }
  static func strings(_ texts: some Sequence<String>) -> Wire { .array(texts.map { .string($0) }) }
}

extension Wire: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  init(dictionaryLiteral elements: (String, Wire)...) {
    self = .fields(elements.map { (name: $0.0, value: $0.1) })
  }
  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int) { self = .int(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(nilLiteral: ()) { self = .null }
}

/// Writes JSON that every browser reads without loss.
struct WireWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ wire: Wire) {
    switch wire {
    case .null: raw("null")
    case .bool(let value): raw(value ? "true" : "false")
    case .int(let value): raw(String(value))
    case .double(let value): raw(value.isFinite ? "\(value)" : "null")
    case .string(let text): string(text)
    case .array(let elements): list("[", "]", elements) { $0.write($1) }
    case .fields(let fields):
      list("{", "}", fields) { writer, field in
        writer.string(field.name)
        writer.raw(":")
        writer.write(field.value)
      }
    case .json(let json): bytes += json
    case .value(let value, let limits): WireValue(limits).write(value, to: &self)
    }
  }

  mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  mutating func list<Element>(
    _ open: String, _ close: String, _ elements: some Sequence<Element>,
    _ write: (inout WireWriter, Element) -> Void
  ) {
    raw(open)
    var isFirst = true
    for element in elements {
      if !isFirst { raw(",") }
      isFirst = false
      write(&self, element)
    }
    raw(close)
  }

  mutating func string(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): raw("\\\"")
      case UInt8(ascii: "\\"): raw("\\\\")
      case 0..<0x20:
        let hex = String(byte, radix: 16)
        raw("\\u00" + (hex.count == 1 ? "0" : "") + hex)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
