// SPDX-License-Identifier: MIT

/// Decodes any `Decodable` value from its stored form.
///
/// A decoder reuses its buffers. Create one per task; do not share it between concurrent tasks.
///
/// ```swift
/// let person = try DocumentDecoder().decode(Person.self, from: bytes)
/// ```
public final class DocumentDecoder {
  /// Contextual information that types read from `decoder.userInfo`.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  private var idle: DecodingState?

  /// Creates a decoder. Reuse it for many documents to avoid repeated allocation.
  public init() {}

  /// Decodes a value from the bytes of a stored document, or of one value inside it.
  ///
  /// The bytes are not accessed after the call returns, even if the type keeps its decoder.
  ///
  /// - Throws: `DecodingError` if the value does not match the type,
  ///   ``StoreError/Code/corruptDocument`` if the bytes are damaged, or any error the type throws.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer
  ) throws -> Value {
    try decode(type, from: bytes, inside: 0)
  }

  /// - Parameter nesting: The number of objects and arrays that enclose the value.
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
      // A container that outlives this call must not read the bytes of the next one.
      if isKnownUniquelyReferenced(&state) { idle = state }
    }
    let value = try state.decode(type, &reader, depth: nesting + 1)
    guard reader.isAtEnd else { throw reader.corrupt("the end") }
    return value
  }

  /// Decodes a value from a document value.
  ///
  /// - Throws: `DecodingError` if the value does not match the type,
  ///   ``StoreError/Code/valueNotStorable``, or any error the type throws.
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
  /// Decodes the value as the specified type.
  ///
  /// - Throws: The errors of ``DocumentDecoder/decode(_:from:)-(_,DocumentValue)``.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try DocumentDecoder().decode(type, from: self)
  }
}

extension DocumentObject {
  /// Decodes the object as the specified type.
  ///
  /// - Throws: The errors of ``DocumentDecoder/decode(_:from:)-(_,DocumentValue)``.
  public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    try DocumentValue.object(self).decoded(as: type)
  }
}
