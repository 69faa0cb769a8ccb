// SPDX-License-Identifier: MIT

/// The decoder passed to a type's `init(from:)`: one value in the bytes.
struct ByteDecoder: Decoder {
  let state: DecodingState
  let position: DecodingCore.Position
  /// The nesting depth inside this value, if it is an object or an array.
  let depth: Int

  var codingPath: [any CodingKey] { state.core.pointee.codingPath(to: position) }
  var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let first = try open(ASCII.openBrace, [String: Any].self, "an object")
    return KeyedDecodingContainer(ByteObject<Key>(state: state, object: first, depth: depth))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let first = try open(ASCII.openBracket, [Any].self, "an array")
    return ByteArray(state: state, array: first, depth: depth)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  /// Returns the position after the expected opening bracket.
  private func open(
    _ bracket: UInt8, _ type: Any.Type, _ expected: StaticString
  ) throws -> DecodingCore.Position {
    var reader = state.core.pointee.reader(at: position)
    guard reader.peekConsume(bracket) else {
      throw state.mismatch(reader.mismatch(expected), type, at: position)
    }
    guard depth <= DocumentValue.maximumDepth else { throw JSONReader.tooDeep(at: reader.offset) }
    return reader.cursor
  }
}

extension ByteDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { state.core.pointee.reader(at: position).isNull }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    var reader = state.core.pointee.reader(at: position)
    let value = try state.decode(type, &reader, depth: depth)
    state.core.pointee.spanStart = position
    state.core.pointee.spanEnd = reader.cursor
    return value
  }

  private func read<Value>(
    _ body: (inout JSONReader) throws(StoreError) -> Value
  ) throws -> Value {
    var reader = state.core.pointee.reader(at: position)
    let value = try state.read(&reader, Value.self, body)
    state.core.pointee.spanStart = position
    state.core.pointee.spanEnd = reader.cursor
    return value
  }

  func decode(_ type: Bool.Type) throws -> Bool {
    try read { (r) throws(StoreError) in try r.bool() }
  }

  func decode(_ type: String.Type) throws -> String {
    try read { (r) throws(StoreError) in try r.string() }
  }

  func decode(_ type: Double.Type) throws -> Double {
    try read { (r) throws(StoreError) in try r.double() }
  }

  func decode(_ type: Float.Type) throws -> Float {
    try read { (r) throws(StoreError) in try r.float() }
  }

  func decode(_ type: Int.Type) throws -> Int {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int8.Type) throws -> Int8 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int16.Type) throws -> Int16 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int32.Type) throws -> Int32 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int64.Type) throws -> Int64 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt.Type) throws -> UInt {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt8.Type) throws -> UInt8 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt16.Type) throws -> UInt16 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt32.Type) throws -> UInt32 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt64.Type) throws -> UInt64 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: Int128.Type) throws -> Int128 {
    try read { (r) throws(StoreError) in try r.integer() }
  }

  func decode(_ type: UInt128.Type) throws -> UInt128 {
    try read { (r) throws(StoreError) in try r.integer() }
  }
}

extension JSONReader {
  /// Reads the nearest `Float`; throws if a finite number overflows to infinity.
  mutating func float() throws(StoreError) -> Float {
    let before = self
    let double = try double()
    let float = Float(double)
    guard float.isFinite || !double.isFinite else { throw before.mismatch("a float") }
    return float
  }
}
