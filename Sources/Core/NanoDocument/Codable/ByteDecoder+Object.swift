// SPDX-License-Identifier: MIT

/// A keyed container that decodes the fields of a JSON object.
struct ByteObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let state: DecodingState
  /// The byte after the opening brace.
  let object: DecodingCore.Position
  let depth: Int

  private var core: UnsafeMutablePointer<DecodingCore> { state.core }

  var codingPath: [any CodingKey] { core.pointee.codingPath(to: object - 1) }

  var allKeys: [Key] {
    var keys: [Key] = []
    var seen: Set<ExactName> = []
    var reader = core.pointee.reader(at: object)
    while let name = try? reader.rawName().text {
      if seen.insert(ExactName(name)).inserted, let key = Key(stringValue: name) {
        keys.append(key)
      }
      guard (try? reader.skipValue()) != nil, reader.peekConsume(ASCII.comma) else { break }
    }
    return keys
  }

  func contains(_ key: Key) -> Bool { (try? position(of: key.stringValue)) != nil }

  @inline(__always)
  private func position(of name: String) throws(StoreError) -> DecodingCore.Position? {
    try core.pointee.find(name, in: object, depth: depth)
  }

  @inline(__always)
  func reader(_ key: some CodingKey) throws -> JSONReader {
    guard let position = try position(of: key.stringValue) else { throw keyNotFound(key) }
    return core.pointee.reader(at: position)
  }

  @inline(never)
  private func keyNotFound(_ key: any CodingKey) -> DecodingError {
    .keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "No field has the name \(key.stringValue)"))
  }

  /// Stores where the last field's value ends, unless a different field was looked up in the meantime.
  @inline(__always)
  private func finished(_ reader: JSONReader, from position: DecodingCore.Position) {
    let hint = core.pointee.hint(depth)
    if hint.pointee.object == object, hint.pointee.value == position {
      hint.pointee.after = reader.cursor
    }
  }

  @inline(__always)
  func read<Value>(
    _ key: Key, _ body: (inout JSONReader) throws(StoreError) -> Value
  ) throws -> Value {
    var reader = try reader(key)
    let position = reader.cursor
    let value = try state.read(&reader, Value.self, body)
    finished(reader, from: position)
    return value
  }

  @inline(__always)
  func readIfPresent<Value>(
    _ key: Key, _ body: (inout JSONReader) throws(StoreError) -> Value
  ) throws -> Value? {
    guard let position = try position(of: key.stringValue) else { return nil }
    var reader = core.pointee.reader(at: position)
    let value = reader.consumeNull() ? nil : try state.read(&reader, Value.self, body)
    finished(reader, from: position)
    return value
  }

  func decodeNil(forKey key: Key) throws -> Bool { try reader(key).isNull }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    var reader = try reader(key)
    let position = reader.cursor
    let value = try state.decode(type, &reader, depth: depth + 1)
    finished(reader, from: position)
    return value
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let position = try position(of: key.stringValue) else { return nil }
    var reader = core.pointee.reader(at: position)
    let value = reader.consumeNull() ? nil : try state.decode(type, &reader, depth: depth + 1)
    finished(reader, from: position)
    return value
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(PathKey(stringValue: "super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: some CodingKey) throws -> ByteDecoder {
    var reader = try reader(key)
    reader.skipWhitespace()
    return ByteDecoder(state: state, position: reader.cursor, depth: depth + 1)
  }
}
