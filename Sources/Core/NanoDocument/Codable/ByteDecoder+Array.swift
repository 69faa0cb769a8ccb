// SPDX-License-Identifier: MIT

/// An unkeyed container that decodes the elements of a JSON array.
struct ByteArray: UnkeyedDecodingContainer {
  let state: DecodingState
  /// The byte after the opening bracket.
  let array: DecodingCore.Position
  let depth: Int
  private(set) var currentIndex = 0
  /// The start of the next element, or the closing bracket.
  private var cursor: DecodingCore.Position

  init(state: DecodingState, array: DecodingCore.Position, depth: Int) {
    self.state = state
    self.array = array
    self.depth = depth
    var reader = state.core.pointee.reader(at: array)
    reader.skipWhitespace()
    cursor = reader.cursor
  }

  private var core: UnsafeMutablePointer<DecodingCore> { state.core }

  var codingPath: [any CodingKey] { core.pointee.codingPath(to: array - 1) }

  /// Scans the array on every access.
  var count: Int? {
    var reader = core.pointee.reader(at: array)
    if reader.peekConsume(ASCII.closeBracket) { return 0 }
    var count = 0
    repeat {
      guard (try? reader.skipValue()) != nil else { return nil }
      count += 1
    } while reader.peekConsume(ASCII.comma)
    return count
  }

  var isAtEnd: Bool {
    let reader = core.pointee.reader(at: cursor)
    guard let next = reader.next else { return true }
    guard next == ASCII.closeBracket else { return false }
    core.pointee.spanStart = array - 1
    core.pointee.spanEnd = cursor + 1
    return true
  }

  /// Returns a reader positioned at the next element.
  private func reader(_ type: Any.Type) throws -> JSONReader {
    guard isAtEnd else { return core.pointee.reader(at: cursor) }
    throw DecodingError.valueNotFound(
      type,
      DecodingError.Context(
        codingPath: codingPath + [PathKey(intValue: currentIndex)],
        debugDescription: "The array has no more elements"))
  }

  /// Moves past the element that was read and the comma that follows it.
  @inline(__always)
  private mutating func advance(_ reader: inout JSONReader) throws {
    if reader.peekConsume(ASCII.comma) {
      reader.skipWhitespace()
      if reader.next == ASCII.closeBracket { throw reader.corrupt("an element") }
    } else if reader.next != ASCII.closeBracket {
      throw reader.unexpected(ASCII.closeBracket)
    }
    cursor = reader.cursor
    currentIndex += 1
  }

  mutating func decodeNil() throws -> Bool {
    var reader = try reader(Never?.self)
    guard reader.consumeNull() else { return false }
    try advance(&reader)
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    var reader = try reader(type)
    let value = try state.decode(type, &reader, depth: depth + 1)
    try advance(&reader)
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    var reader = try reader([String: Any].self)
    let container = try decoder().container(keyedBy: type)
    try skip(&reader)
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    var reader = try reader([Any].self)
    let container = try decoder().unkeyedContainer()
    try skip(&reader)
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    var reader = try reader((any Decoder).self)
    let decoder = decoder()
    try skip(&reader)
    return decoder
  }

  private func decoder() -> ByteDecoder {
    ByteDecoder(state: state, position: cursor, depth: depth + 1)
  }

  private mutating func skip(_ reader: inout JSONReader) throws {
    try reader.skipValue()
    try advance(&reader)
  }
}
