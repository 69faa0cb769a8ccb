// SPDX-License-Identifier: MIT

/// A keyed container that writes the fields of a JSON object.
struct StreamObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let state: EncodingState
  let frame: EncodingCore.Reference

  private var core: UnsafeMutablePointer<EncodingCore> { state.core }

  var codingPath: [any CodingKey] { core.pointee.codingPath(of: frame) }

  @inline(__always)
  private func name(_ key: Key) -> EncodingCore.Mark? {
    core.pointee.name(key.stringValue, in: frame)
  }

  mutating func encodeNil(forKey key: Key) throws {
    if name(key) != nil { core.pointee.writer.null() }
  }

  mutating func encode(_ value: Bool, forKey key: Key) throws {
    if name(key) != nil { core.pointee.writer.bool(value) }
  }

  mutating func encode(_ value: String, forKey key: Key) throws {
    if name(key) != nil { core.pointee.writer.string(value) }
  }

  mutating func encode(_ value: Double, forKey key: Key) throws {
    try double(value, key)
  }

  mutating func encode(_ value: Float, forKey key: Key) throws {
    try double(Double(value), key)
  }

  @inline(__always)
  private func double(_ value: Double, _ key: Key) throws {
    try state.write(name(key)) { try state.double(value) }
  }

  mutating func encode(_ value: Int, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: Int8, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: Int16, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: Int32, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: Int64, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: UInt, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: UInt8, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: UInt16, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: UInt32, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: UInt64, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: Int128, forKey key: Key) throws { try integer(value, key) }
  mutating func encode(_ value: UInt128, forKey key: Key) throws { try integer(value, key) }

  @inline(__always)
  private func integer(_ value: some FixedWidthInteger, _ key: Key) throws {
    let mark = name(key)
    guard let value = Int64(exactly: value) else {
      return try state.write(mark) { throw StoreError.integerNotStorable }
    }
    if mark != nil { core.pointee.writer.integer(value) }
  }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try state.write(name(key)) { try state.encode(value) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    let object = name(key) == nil ? .closed : core.pointee.nested(.object)
    return KeyedEncodingContainer(StreamObject<NestedKey>(state: state, frame: object))
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    StreamArray(state: state, frame: name(key) == nil ? .closed : core.pointee.nested(.array))
  }

  mutating func superEncoder() -> any Encoder { superEncoder("super") }

  mutating func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key.stringValue) }

  private func superEncoder(_ key: String) -> any Encoder {
    let isOpen = core.pointee.name(key, in: frame) != nil
    return StreamEncoder(state: state, frame: isOpen ? core.pointee.slot() : .closed)
  }
}
