// SPDX-License-Identifier: MIT

import Foundation

/// The state shared by all containers of one decoding pass. ``EncodingState`` explains the pointer.
final class DecodingState {
  let core: UnsafeMutablePointer<DecodingCore>
  var userInfo: [CodingUserInfoKey: Any] = [:]

  init() {
    core = .allocate(capacity: 1)
    core.initialize(to: DecodingCore())
  }

  deinit {
    core.deinitialize(count: 1)
    core.deallocate()
  }

  /// Decodes a value of any type and advances the reader past it.
  ///
  /// - Parameter depth: The nesting depth inside the value, if it is an object or an array.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ reader: inout JSONReader, depth: Int
  ) throws -> Value {
    /// Decodes a type that has its own stored form.
    @inline(__always)
    func native<Native>(
      _ body: (inout JSONReader) throws(StoreError) -> Native
    ) throws -> Value {
      same(try read(&reader, type, body), as: Value.self)
    }
    reader.skipWhitespace()
    if type == String.self { return try native { (r) throws(StoreError) in try r.string() } }
    if type == [String].self { return try native { (r) throws(StoreError) in try r.strings() } }
    if type == Int.self { return try native { (r) throws(StoreError) in try r.int() } }
    if type == Double.self { return try native { (r) throws(StoreError) in try r.double() } }
    if type == Bool.self { return try native { (r) throws(StoreError) in try r.bool() } }
    if type == Date.self { return try native { (r) throws(StoreError) in try r.date() } }
    if type == Data.self { return try native { (r) throws(StoreError) in try r.data() } }
    if type == URL.self { return try native { (r) throws(StoreError) in try r.url() } }
    if type == UUID.self { return try native { (r) throws(StoreError) in try r.uuid() } }
    if type == Decimal.self { return try native { (r) throws(StoreError) in try r.decimal() } }
    if type == Duration.self { return try native { (r) throws(StoreError) in try r.duration() } }
    if type == DocumentValue.self { return try native { (r) throws(StoreError) in try r.value() } }
    if type == DocumentObject.self {
      return try native { (r) throws(StoreError) in try r.object() }
    }
    let position = reader.cursor
    let value = try Value(from: ByteDecoder(state: self, position: position, depth: depth))
    reader.cursor = try core.pointee.endOfValue(position, depth: depth)
    return value
  }

  /// Runs `body`, converting a type mismatch to the corresponding `DecodingError`.
  @inline(__always)
  func read<Value>(
    _ reader: inout JSONReader, _ type: Any.Type,
    _ body: (inout JSONReader) throws(StoreError) -> Value
  ) throws -> Value {
    let position = reader.cursor
    do throws(StoreError) {
      return try body(&reader)
    } catch {
      throw mismatch(error, type, at: position)
    }
  }

  @inline(never)
  func mismatch(_ error: StoreError, _ type: Any.Type, at position: DecodingCore.Position)
    -> any Error
  {
    guard error.code == .typeMismatch else { return error }
    let context = DecodingError.Context(
      codingPath: core.pointee.codingPath(to: position),
      debugDescription: "Expected \(error[.expected] ?? "a different value")",
      underlyingError: error)
    return core.pointee.reader(at: position).isNull
      ? DecodingError.valueNotFound(type, context) : DecodingError.typeMismatch(type, context)
  }
}

extension JSONReader {
  fileprivate mutating func int() throws(StoreError) -> Int { try integer() }

  fileprivate mutating func strings() throws(StoreError) -> [String] {
    try array { (reader: inout JSONReader) throws(StoreError) in try reader.string() }
  }

  mutating func uuid() throws(StoreError) -> UUID {
    let before = self
    guard let uuid = UUID(uuidString: try string()) else { throw before.mismatch("a UUID") }
    return uuid
  }

  mutating func decimal() throws(StoreError) -> Decimal { try decimalValue().decimal }

  /// Reads a duration: its seconds, or the two halves of its attoseconds as earlier versions stored it.
  mutating func duration() throws(StoreError) -> Duration {
    let before = self
    skipWhitespace()
    guard next == ASCII.openBracket else {
      guard let duration = Duration(seconds: try decimalValue()) else {
        throw before.mismatch("a duration")
      }
      return duration
    }
    let halves: [Int64] = try array { (reader: inout JSONReader) throws(StoreError) in
      try reader.integer()
    }
    guard halves.count == 2, halves[1] >= 0 else { throw before.mismatch("a duration") }
    return Duration(attoseconds: Int128(halves[0]) << 64 | Int128(halves[1]))
  }

  private mutating func decimalValue() throws(StoreError) -> DecimalValue {
    let before = self
    skipWhitespace()
    if let stored = storedDecimal() { return stored }
    if next == ASCII.openBrace, case .decimal(let stored) = try value() { return stored }
    self = before
    skipWhitespace()
    guard next == ASCII.quote else {
      switch try number() {
      case .integer(let value): return DecimalValue(value)
      case .double(let value): return try before.decimal(value)
      case nil: return try before.decimal(double())
      }
    }
    let text = try string()
    if text == "NaN" { return .nan }
    return try before.decimal(text)
  }

  /// Converts a double by its shortest text, as casts in queries: `Decimal(19.99)` has more digits.
  private func decimal(_ value: Double) throws(StoreError) -> DecimalValue {
    if value.isNaN { return .nan }
    return try decimal("\(value)")
  }

  /// - Throws: ``StoreError/Code/typeMismatch`` for text that is not a number, and for a number out of range.
  private func decimal(_ text: String) throws(StoreError) -> DecimalValue {
    guard let decimal = DecimalText.parse(text, allowsUnstorable: true), !decimal.decimal.isNaN
    else { throw mismatch("a decimal number") }
    return decimal
  }
}

extension JSONReader {
  /// Returns the field names and array indices that lead to the value at a byte offset; empty for the
  /// document itself.
  package static func path(toByte offset: Int, in bytes: UnsafeRawBufferPointer) -> [String] {
    var reader = JSONReader(bytes)
    guard offset <= bytes.count else { return [] }
    let position = reader.start + offset
    var path: [String] = []
    while let key = reader.descend(towards: position) {
      path.append(key.intValue.map { "\($0)" } ?? key.stringValue)
    }
    return path
  }
}

extension DecodingCore {
  /// Returns the names and indices that lead to a position, by walking the document from its start.
  func codingPath(to position: Position) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var reader = reader(at: start)
    while let key = reader.descend(towards: position) { path.append(key) }
    return path
  }
}

extension JSONReader {
  /// Descends into the field or element that contains the position; returns `nil` if the current value
  /// starts there.
  fileprivate mutating func descend(towards position: UnsafePointer<UInt8>) -> (any CodingKey)? {
    skipWhitespace()
    guard cursor < position, let bracket = next else { return nil }
    guard bracket == ASCII.openBrace || bracket == ASCII.openBracket else { return nil }
    cursor += 1
    var index = 0
    repeat {
      skipWhitespace()
      var key = PathKey(intValue: index)
      if bracket == ASCII.openBrace {
        guard let name = try? rawName().text else { return nil }
        key = PathKey(stringValue: name)
        skipWhitespace()
      }
      var ahead = self
      guard (try? ahead.skipValue()) != nil else { return key }
      if position < ahead.cursor { return key }
      self = ahead
      index += 1
    } while peekConsume(ASCII.comma)
    return nil
  }
}
