// SPDX-License-Identifier: MIT

/// The encoder passed to a type's `encode(to:)`: one value in the text.
struct StreamEncoder: Encoder {
  let state: EncodingState
  let frame: EncodingCore.Reference

  var codingPath: [any CodingKey] { state.core.pointee.codingPath(of: frame) }
  var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let object = state.core.pointee.container(.object, in: frame)
    return KeyedEncodingContainer(StreamObject<Key>(state: state, frame: object))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    StreamArray(state: state, frame: state.core.pointee.container(.array, in: frame))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension StreamEncoder: SingleValueEncodingContainer {
  mutating func encode(_ value: Float) throws {
    if try state.core.pointee.scalar(in: frame) { try state.double(Double(value)) }
  }

  mutating func encode(_ value: Bool) throws {
    if try state.core.pointee.scalar(in: frame) { state.core.pointee.writer.bool(value) }
  }

  mutating func encode(_ value: String) throws {
    if try state.core.pointee.scalar(in: frame) { state.core.pointee.writer.string(value) }
  }

  mutating func encode(_ value: Double) throws {
    if try state.core.pointee.scalar(in: frame) { try state.double(value) }
  }

  mutating func encode(_ value: Int) throws { try integer(value) }
  mutating func encode(_ value: Int8) throws { try integer(value) }
  mutating func encode(_ value: Int16) throws { try integer(value) }
  mutating func encode(_ value: Int32) throws { try integer(value) }
  mutating func encode(_ value: Int64) throws { try integer(value) }
  mutating func encode(_ value: UInt) throws { try integer(value) }
  mutating func encode(_ value: UInt8) throws { try integer(value) }
  mutating func encode(_ value: UInt16) throws { try integer(value) }
  mutating func encode(_ value: UInt32) throws { try integer(value) }
  mutating func encode(_ value: UInt64) throws { try integer(value) }
  mutating func encode(_ value: Int128) throws { try integer(value) }
  mutating func encode(_ value: UInt128) throws { try integer(value) }

  private func integer(_ value: some FixedWidthInteger) throws {
    guard let value = Int64(exactly: value) else { throw StoreError.integerNotStorable }
    if try state.core.pointee.scalar(in: frame) { state.core.pointee.writer.integer(value) }
  }

  mutating func encodeNil() throws {
    if try state.core.pointee.scalar(in: frame) { state.core.pointee.writer.null() }
  }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    guard try state.core.pointee.scalar(in: frame) else { return }
    try state.encode(value)
  }
}

extension EncodingState {
  /// Writes the value begun at the mark, or rolls it back if `body` throws.
  @inline(__always)
  func write(_ mark: EncodingCore.Mark?, _ body: () throws -> Void) throws {
    guard let mark else { return }
    do {
      try body()
    } catch {
      throw rollBack(mark, error)
    }
  }

  @inline(never)
  private func rollBack(_ mark: EncodingCore.Mark, _ error: any Error) -> any Error {
    let path = core.pointee.codingPath(ofLastIn: mark.frame)
    core.pointee.rollBack(mark)
    guard let error = error as? StoreError else { return error }
    return error.adding(.path, path.map(\.stringValue).joined(separator: "."))
  }
}
