// SPDX-License-Identifier: MIT

/// Reads any Decodable value from its stored form.
///
/// A decoder keeps its memory for the next value: make one where it is needed and use it from one
/// task at a time.
///
/// ```swift
/// let person = try DocumentDecoder().decode(Person.self, from: bytes)
/// ```
public final class DocumentDecoder {
  /// What types find in `decoder.userInfo`.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  private var idle: DecodingState?

  /// Makes a decoder; it allocates a little, so keep it for many documents.
  public init() {}

  /// Reads a value from the bytes of a stored document, or of a part of one. The bytes are not used
  /// after the call, even if the type keeps its decoder.
  ///
  /// - Throws: `DecodingError` if the value is not what the type expects,
  ///   ``StoreError/Code/corruptDocument`` if it is damaged, or what the type throws.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer
  ) throws -> Value {
    try decode(type, from: bytes, inside: 0)
  }

  /// - Parameter nesting: How many objects and arrays are open around the value.
  func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer, inside nesting: Int
  ) throws -> Value {
    var state = idle ?? DecodingState()
    idle = nil
    state.userInfo = userInfo
    var reader = JSONReader(bytes)
    state.core.pointee.begin(reader)
    defer {
      state.core.pointee.finish()
      // Somebody who kept a container of these bytes must not read from the next ones.
      if isKnownUniquelyReferenced(&state) { idle = state }
    }
    let value = try state.decode(type, &reader, depth: nesting + 1)
    guard reader.isAtEnd else { throw reader.corrupt("the end") }
    return value
  }

  /// Reads a value from a value in memory.
  ///
  /// - Throws: `DecodingError` if the value is not what the type expects,
  ///   ``StoreError/Code/valueNotStorable``, or what the type throws.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from value: DocumentValue
  ) throws -> Value {
    var writer = JSONWriter()
    writer.value(value)
    if let failure = writer.failure { throw failure }
    return try decode(type, from: writer.bytes)
  }
}

extension DocumentValue {
  /// The value as a Decodable type.
  ///
  /// - Throws: As ``DocumentDecoder/decode(_:from:)-(_,DocumentValue)``.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try DocumentDecoder().decode(type, from: self)
  }
}

extension DocumentObject {
  /// The object as a Decodable type.
  ///
  /// - Throws: As ``DocumentDecoder/decode(_:from:)-(_,DocumentValue)``.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try DocumentValue.object(self).decoded(as: type)
  }
}
