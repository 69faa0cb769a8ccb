// SPDX-License-Identifier: MIT

import Foundation

/// What all containers of one encoding share.
///
/// The containers hold on to this object and work through its pointer: access to the properties of
/// a class is checked for exclusivity each time, which would be a third of all work.
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

  /// Writes a value where the writer stands. After an error something of it may be there.
  func encode<Value: Encodable>(_ value: Value) throws {
    if try encodeNative(value) { return }
    let frame = try core.pointee.push()
    try value.encode(to: StreamEncoder(state: self, frame: frame))
    core.pointee.pop(frame)
  }

  /// Writes a value of a type that has a form of its own, and says whether it is one.
  @inline(__always)
  private func encodeNative<Value: Encodable>(_ value: Value) throws -> Bool {
    if Value.self == String.self {
      core.pointee.writer.string(same(value))
    } else if Value.self == [String].self {
      core.pointee.writer.array(same(value, as: [String].self)) { $0.string($1) }
    } else if Value.self == Int.self {
      core.pointee.writer.integer(same(value, as: Int.self))
    } else if Value.self == Double.self {
      core.pointee.writer.double(same(value))
    } else if Value.self == Bool.self {
      core.pointee.writer.bool(same(value))
    } else if Value.self == Date.self {
      core.pointee.writer.date(same(value))
      return try checked()
    } else if Value.self == Data.self {
      core.pointee.writer.data(same(value))
    } else if Value.self == URL.self {
      core.pointee.writer.url(same(value))
    } else if Value.self == UUID.self {
      core.pointee.writer.string(same(value, as: UUID.self).uuidString)
    } else if Value.self == Decimal.self {
      core.pointee.writer.string(same(value, as: Decimal.self).description)
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

  private func checked() throws -> Bool {
    if let failure = core.pointee.writer.firstFailure {
      core.pointee.writer.firstFailure = nil
      throw failure
    }
    return true
  }
}

/// A value as the type that it was just found to be.
@inline(__always)
func same<From, To>(_ value: From, as type: To.Type = To.self) -> To {
  unsafeBitCast(value, to: To.self)
}

/// A name or an index on the way to a value.
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
