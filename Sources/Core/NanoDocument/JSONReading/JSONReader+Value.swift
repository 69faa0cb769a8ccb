// SPDX-License-Identifier: MIT

public import Foundation

extension JSONReader {
  /// Reads a value of any type, recognizing the stored forms of dates, data and other types.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument``.
  public mutating func value() throws(StoreError) -> DocumentValue { try value(depth: depth) }

  /// Reads an object. A date or another form that begins with `$` is not an object.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public mutating func object() throws(StoreError) -> DocumentObject {
    skipWhitespace()
    let before = self
    guard next == ASCII.openBrace, case .object(let object) = try value() else {
      throw before.mismatch("an object")
    }
    return object
  }

  /// Reads a date.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public mutating func date() throws(StoreError) -> Date {
    skipWhitespace()
    if let date = storedDate() { return date }
    let before = self
    guard next == ASCII.openBrace, case .date(let date) = try value() else {
      throw before.mismatch("a date")
    }
    return date
  }

  /// Reads binary data.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public mutating func data() throws(StoreError) -> Data {
    skipWhitespace()
    let before = self
    guard next == ASCII.openBrace, case .data(let data) = try value() else {
      throw before.mismatch("data")
    }
    return data
  }

  /// Reads a URL.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public mutating func url() throws(StoreError) -> URL {
    skipWhitespace()
    let before = self
    guard next == ASCII.openBrace, case .url(let url) = try value() else {
      throw before.mismatch("a URL")
    }
    return url
  }

  /// Reads what ``JSONWriter/wrappedValue(_:)`` has written.
  package mutating func wrappedValue() throws(StoreError) -> DocumentValue {
    try value(depth: -DocumentValue.maximumWrapping)
  }

  /// - Parameter depth: The number of objects and arrays that enclose the value.
  mutating func value(depth: Int) throws(StoreError) -> DocumentValue {
    skipWhitespace()
    guard let next else { throw corrupt("a value") }
    switch next {
    case ASCII.quote: return .string(try string())
    case ASCII.openBrace: return try objectOrForm(depth: depth + 1)
    case ASCII.openBracket: return .array(try array(depth: depth + 1))
    case 0x74 where match("true"): return .bool(true)
    case 0x66 where match("false"): return .bool(false)
    case 0x6E where match("null"): return .null
    default:
      switch try number() {
      case .integer(let value): return .int(value)
      case .double(let value): return .double(value)
      case nil: throw corrupt("a value")
      }
    }
  }

  private mutating func array(depth: Int) throws(StoreError) -> [DocumentValue] {
    guard depth <= DocumentValue.maximumDepth else { throw Self.tooDeep(at: offset) }
    cursor += 1
    var elements: [DocumentValue] = []
    if peekConsume(ASCII.closeBracket) { return elements }
    repeat {
      elements.append(try value(depth: depth))
    } while peekConsume(ASCII.comma)
    try expect(ASCII.closeBracket)
    return elements
  }

  private mutating func objectOrForm(depth: Int) throws(StoreError) -> DocumentValue {
    guard depth <= DocumentValue.maximumDepth else { throw Self.tooDeep(at: offset) }
    if let form = storedForm() { return form }
    cursor += 1
    if peekConsume(ASCII.closeBrace) { return .object(DocumentObject()) }
    var fields = FieldCollector()
    var reserved = 0
    var count = 0
    repeat {
      let name = try rawName()
      let text = try name.text
      let trace = name.trace
      count += 1
      if _slowPath(name.isReserved) { reserved += 1 }
      if _slowPath(fields.contains(text, trace: trace)) {
        _ = try value(depth: depth)  // if a name occurs twice, the first value is kept
      } else {
        fields.append(text, try value(depth: depth), trace: trace)
      }
    } while peekConsume(ASCII.comma)
    try expect(ASCII.closeBrace)
    let object = fields.object()
    if _slowPath(reserved == count), let form = StoredForm.value(of: object) { return form }
    return .object(object)
  }
}

extension JSONReader.Name {
  /// See ``FieldCollector/trace(_:)``. The bytes of a name with escapes or a leading `$` differ from
  /// its text.
  fileprivate var trace: UInt64 {
    isEscaped || bytes.first == ASCII.dollar ? 0 : FieldCollector.trace(bytes)
  }
}
