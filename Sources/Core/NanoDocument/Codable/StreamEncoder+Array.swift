// SPDX-License-Identifier: MIT

/// An unkeyed container that writes the elements of a JSON array.
struct StreamArray: UnkeyedEncodingContainer {
  let state: EncodingState
  let frame: EncodingCore.Reference

  /// Tracked here too, so that it stays correct after the array is closed.
  private(set) var count = 0

  private var core: UnsafeMutablePointer<EncodingCore> { state.core }

  var codingPath: [any CodingKey] { core.pointee.codingPath(of: frame) }

  init(state: EncodingState, frame: EncodingCore.Reference) {
    self.state = state
    self.frame = frame
    if frame.id != 0 { count = state.core.pointee.count(of: frame) }
  }

  @inline(__always)
  private mutating func element() -> EncodingCore.Mark? {
    count += 1
    return core.pointee.element(in: frame)
  }

  mutating func encodeNil() throws {
    if element() != nil { core.pointee.writer.null() }
  }

  mutating func encode(_ value: Bool) throws {
    if element() != nil { core.pointee.writer.bool(value) }
  }

  mutating func encode(_ value: String) throws {
    if element() != nil { core.pointee.writer.string(value) }
  }

  mutating func encode(_ value: Double) throws {
    try double(value)
  }

  mutating func encode(_ value: Float) throws {
    try double(Double(value))
  }

  @inline(__always)
  private mutating func double(_ value: Double) throws {
    let mark = element()
    count -= 1
    try state.write(mark) { try state.double(value) }
    count += 1
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

  @inline(__always)
  private mutating func integer(_ value: some FixedWidthInteger) throws {
    let mark = element()
    guard let value = Int64(exactly: value) else {
      count -= 1
      return try state.write(mark) { throw StoreError.integerNotStorable }
    }
    if mark != nil { core.pointee.writer.integer(value) }
  }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    let mark = element()
    count -= 1
    try state.write(mark) { try state.encode(value) }
    count += 1
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy keyType: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    let object = element() == nil ? .closed : core.pointee.nested(.object)
    return KeyedEncodingContainer(StreamObject<NestedKey>(state: state, frame: object))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    StreamArray(state: state, frame: element() == nil ? .closed : core.pointee.nested(.array))
  }

  mutating func superEncoder() -> any Encoder {
    StreamEncoder(state: state, frame: element() == nil ? .closed : core.pointee.slot())
  }
}
