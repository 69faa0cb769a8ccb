// SPDX-License-Identifier: MIT

/// A strict parser for external JSON text. It validates every byte in one pass.
struct StrictParser {
  let start: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>
  var cursor: UnsafePointer<UInt8>
  let isExtended: Bool

  init(_ bytes: UnsafeRawBufferPointer, _ dialect: JSONDialect) {
    let reader = JSONReader(bytes)
    start = reader.start
    end = reader.end
    cursor = reader.cursor
    isExtended = dialect == .extended
  }

  /// Parses the whole text: one value surrounded only by whitespace.
  mutating func text() throws(StoreError) -> DocumentValue {
    if end - start >= 3, start[0] == 0xEF, start[1] == 0xBB, start[2] == 0xBF {
      throw error("The text begins with a byte order mark", at: start, "JSON in UTF-8 without one")
    }
    skipWhitespace()
    let value = try value(depth: 0)
    skipWhitespace()
    guard cursor == end else { throw unexpected("The value is followed by more text", "the end") }
    return value
  }

  mutating func objectText() throws(StoreError) -> DocumentObject {
    guard case .object(let object) = try text() else {
      cursor = start
      skipWhitespace()
      throw error("The value is not an object", at: cursor, "an object")
    }
    return object
  }

  /// - Parameter depth: The number of objects and arrays that enclose the value.
  private mutating func value(depth: Int) throws(StoreError) -> DocumentValue {
    guard cursor < end else { throw ended("a value") }
    switch cursor.pointee {
    case ASCII.quote: return .string(try string())
    case ASCII.openBrace: return try object(depth: depth + 1)
    case ASCII.openBracket: return try array(depth: depth + 1)
    case 0x30...0x39, ASCII.minus: return try number()
    case 0x74:
      try literal("true")
      return .bool(true)
    case 0x66:
      try literal("false")
      return .bool(false)
    case 0x6E:
      try literal("null")
      return .null
    default: throw unexpected("A value is missing", "a value")
    }
  }

  private mutating func array(depth: Int) throws(StoreError) -> DocumentValue {
    guard depth <= DocumentValue.maximumDepth else { throw tooDeep() }
    cursor += 1
    skipWhitespace()
    var elements: [DocumentValue] = []
    if take(ASCII.closeBracket) { return .array(elements) }
    while true {
      elements.append(try value(depth: depth))
      skipWhitespace()
      if take(ASCII.closeBracket) { return .array(elements) }
      let comma = cursor
      guard take(ASCII.comma) else {
        throw unexpected("Array elements are not separated by a comma", "',' or ']'")
      }
      skipWhitespace()
      if cursor < end, cursor.pointee == ASCII.closeBracket {
        throw error("An array has a trailing comma", at: comma, "']'")
      }
    }
  }

  private mutating func object(depth: Int) throws(StoreError) -> DocumentValue {
    guard depth <= DocumentValue.maximumDepth else { throw tooDeep() }
    if let form = storedForm(depth: depth) { return form }
    cursor += 1
    skipWhitespace()
    if take(ASCII.closeBrace) { return .object(DocumentObject()) }
    var fields = FieldCollector()
    var form = FormCandidate()
    while true {
      let nameStart = cursor
      let name = try fieldName(&form)
      guard !fields.contains(name.text, trace: name.trace) else {
        throw error(
          "An object has two fields with the same name", at: nameStart, "a different name")
      }
      skipWhitespace()
      guard take(ASCII.colon) else {
        throw unexpected("A field name is not followed by a colon", "':'")
      }
      skipWhitespace()
      form.value(at: cursor)
      fields.append(name.text, try value(depth: depth), trace: name.trace)
      skipWhitespace()
      if take(ASCII.closeBrace) { break }
      let comma = cursor
      guard take(ASCII.comma) else {
        throw unexpected("Object fields are not separated by a comma", "',' or '}'")
      }
      skipWhitespace()
      if cursor < end, cursor.pointee == ASCII.closeBrace {
        throw error("An object has a trailing comma", at: comma, "'}'")
      }
    }
    let object = fields.object()
    return form.isPossible ? try recognize(object, form) : .object(object)
  }

  private mutating func fieldName(
    _ form: inout FormCandidate
  ) throws(StoreError) -> (text: String, trace: UInt64) {
    guard cursor < end else { throw ended("a name") }
    guard cursor.pointee == ASCII.quote else {
      throw unexpected("A field name is not in double quotes", "'\"'")
    }
    let first = cursor + 1
    var text = try string()
    let bytes = UnsafeRawBufferPointer(start: first, count: cursor - first - 1)
    let isReserved = isExtended && text.utf8.first == ASCII.dollar
    if _slowPath(isReserved) {
      if text.utf8.dropFirst().first == ASCII.dollar {
        text.removeFirst()
        form.name(isReserved: false)
      } else {
        form.name(isReserved: true)
      }
      return (text, 0)
    }
    form.name(isReserved: false)
    // If the name contains an escape, the lengths differ, and the bytes cannot be hashed as the name.
    return (text, text.utf8.count == bytes.count ? FieldCollector.trace(bytes) : 0)
  }

  /// Reads a date or data in exactly the form a store writes, which is the common case in exported
  /// text.
  private mutating func storedForm(depth: Int) -> DocumentValue? {
    guard isExtended, depth < DocumentValue.maximumDepth else { return nil }
    var reader = JSONReader(start: start, cursor: cursor, end: end)
    guard let form = reader.storedForm() else { return nil }
    // Numbers inside a form are not validated by this lenient reader: an exact interval, and the fields by which a
    // decimal is sorted.
    if case .decimal = form, !isOneField(reader) { return nil }
    if case .date = form, reader.cursor - cursor != #"{"$date":""}"#.utf8.count + DateText.length {
      return nil
    }
    cursor = reader.cursor
    return form
  }

  /// Returns whether the object that was read is `{"$numberDecimal":"…"}`.
  private func isOneField(_ reader: JSONReader) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: cursor, count: reader.cursor - cursor)
    return bytes.count { $0 == ASCII.quote } == 4
  }

  private func recognize(
    _ object: DocumentObject, _ form: FormCandidate
  ) throws(StoreError) -> DocumentValue {
    switch ExtendedJSON.recognize(object) {
    case .none: return .object(object)
    case .value(let value): return value
    case .wrong(let index, let expected, let message):
      let position = (index == 0 ? form.values.0 : form.values.1) ?? start
      let failure = error(message, at: position, expected)
      guard let path = JSONLocation.path(of: position, from: start) else { throw failure }
      throw failure.adding(.field, path.description)
    }
  }
}

/// Tracks, during the parsing of an object, whether it may be a form such as `{"$date":…}`.
private struct FormCandidate {
  /// The positions of the first two values.
  private(set) var values: (UnsafePointer<UInt8>?, UnsafePointer<UInt8>?)
  private var count = 0
  private var isReserved = true

  /// Whether all names begin with exactly one `$`, and there are at most three of them, as in any form.
  var isPossible: Bool { isReserved && count <= 3 }

  mutating func name(isReserved: Bool) { self.isReserved = self.isReserved && isReserved }

  mutating func value(at position: UnsafePointer<UInt8>) {
    if count == 0 { values.0 = position } else if count == 1 { values.1 = position }
    count += 1
  }
}
