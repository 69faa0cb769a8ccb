// SPDX-License-Identifier: MIT

import Foundation

/// The state shared by all containers of one encoding pass.
///
/// Containers retain this object and work through its pointer: exclusivity checks on class properties
/// would cost a third of the encoding time.
final class EncodingState {
  let core: UnsafeMutablePointer<EncodingCore>
  var userInfo: [CodingUserInfoKey: Any] = [:]

  init() {
    core = .allocate(capacity: 1)
    core.initialize(to: EncodingCore())
  }

  deinit {
    core.deinitialize(count: 1)
    core.deallocate()
  }

  /// Encodes a value at the current position. After an error, partial output may remain.
  func encode<Value: Encodable>(_ value: Value) throws {
    if try encodeNative(value) { return }
    let frame = try core.pointee.push()
    try value.encode(to: StreamEncoder(state: self, frame: frame))
    core.pointee.pop(frame)
  }

  /// Encodes a type that has its own stored form; returns `false` for other types.
  @inline(__always)
  private func encodeNative<Value: Encodable>(_ value: Value) throws -> Bool {
    if Value.self == String.self {
      core.pointee.writer.string(same(value))
    } else if Value.self == [String].self {
      try checkRoom(1)
      core.pointee.writer.array(same(value, as: [String].self)) { $0.string($1) }
    } else if Value.self == Int.self {
      core.pointee.writer.integer(same(value, as: Int.self))
    } else if Value.self == Double.self {
      try double(same(value))
    } else if Value.self == Bool.self {
      core.pointee.writer.bool(same(value))
    } else if Value.self == Date.self {
      try checkRoom(1)
      core.pointee.writer.date(same(value))
      return try checked()
    } else if Value.self == Data.self {
      try checkRoom(2)
      core.pointee.writer.data(same(value))
    } else if Value.self == URL.self {
      try checkRoom(1)
      core.pointee.writer.url(same(value))
      return try checked()
    } else if Value.self == UUID.self {
      core.pointee.writer.string(same(value, as: UUID.self).uuidString)
    } else if Value.self == Decimal.self {
      try checkRoom(1)
      core.pointee.writer.decimal(DecimalValue(same(value, as: Decimal.self)))
      return try checked()
    } else if Value.self == Duration.self {
      try checkRoom(1)
      core.pointee.writer.decimal(DecimalValue(secondsOf: same(value)))
      return try checked()
    } else if Value.self == DocumentValue.self {
      core.pointee.writer.value(same(value), depth: core.pointee.nesting)
      return try checked()
    } else if Value.self == DocumentObject.self {
      core.pointee.writer.object(same(value), depth: core.pointee.nesting + 1)
      return try checked()
    } else {
      return false
    }
    return true
  }

  /// Writes a number at the current position. A number that is not finite is stored as an object.
  @inline(__always)
  func double(_ value: Double) throws(StoreError) {
    if _slowPath(!value.isFinite) { try checkRoom(1) }
    core.pointee.writer.double(value)
  }

  /// Checks that a value can have a number of levels of objects and arrays at the current position.
  @inline(__always)
  private func checkRoom(_ levels: Int) throws(StoreError) {
    if _slowPath(core.pointee.nesting + levels > DocumentValue.maximumDepth) {
      throw .nestedTooDeep
    }
  }

  private func checked() throws -> Bool {
    if let failure = core.pointee.writer.firstFailure {
      core.pointee.writer.firstFailure = nil
      throw failure
    }
    return true
  }
}

/// Returns the value as a type that was just checked to be identical.
@inline(__always)
func same<From, To>(_ value: From, as type: To.Type = To.self) -> To {
  unsafeBitCast(value, to: To.self)
}

/// A field name or array index in a coding path.
struct PathKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }
}
