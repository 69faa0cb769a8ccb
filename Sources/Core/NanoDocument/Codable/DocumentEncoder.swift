// SPDX-License-Identifier: MIT

/// Writes any Encodable value in the stored form.
///
/// Dates, data and URLs get their own forms, `Decimal` and `UUID` are text, and a
/// ``DocumentValue`` is written as the value it is. An encoder keeps its memory for the next
/// value: make one where it is needed and use it from one task at a time.
///
/// ```swift
/// var writer = JSONWriter()
/// try DocumentEncoder().encode(person, into: &writer)
/// ```
///
/// A type that writes to several nested containers in turns, or one name twice, has its
/// `encode(to:)` called a second time.
public final class DocumentEncoder {
  /// What types find in `encoder.userInfo`.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  private var idle: EncodingState?

  /// Makes an encoder; it allocates a little, so keep it for many documents.
  public init() {}

  /// Appends a document: a value that encodes as an object.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if it encodes as something else,
  ///   ``StoreError/Code/valueNotStorable``, or what the type throws. The writer is as before.
  package func encode<Value: Encodable>(_ value: Value, into writer: inout JSONWriter) throws {
    let start = writer.count
    try encodeValue(value, into: &writer)
    guard writer.isObject(at: start) else {
      writer.truncate(to: start)
      throw StoreError(
        .invalidArgument, "The value is not stored as an object",
        [.expected: "a type that encodes as an object", .actual: "\(Value.self)"])
    }
  }

  /// Appends a value of any kind.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``, or what the type throws. The writer is as
  ///   before.
  package func encodeValue<Value: Encodable>(_ value: Value, into writer: inout JSONWriter) throws {
    var state = idle ?? EncodingState()
    idle = nil
    state.userInfo = userInfo
    let core = state.core
    swap(&core.pointee.writer, &writer)
    defer {
      swap(&core.pointee.writer, &writer)
      core.pointee.reset()
      // Somebody who kept a container of this encoding must not write into the next one.
      if isKnownUniquelyReferenced(&state) { idle = state }
    }
    let start = core.pointee.writer.count
    let earlierFailure = core.pointee.writer.firstFailure
    core.pointee.writer.firstFailure = nil
    defer { core.pointee.writer.firstFailure = earlierFailure }
    do {
      try state.encode(value)
      if let misuse = core.pointee.misuse { throw misuse }
    } catch {
      guard core.pointee.needsTree else {
        core.pointee.writer.truncate(to: start)
        throw error
      }
    }
    guard core.pointee.needsTree else { return }
    core.pointee.writer.truncate(to: start)
    core.pointee.writer.firstFailure = nil
    core.pointee.writer.value(try TreeEncoder.tree(value, userInfo: userInfo))
    if let failure = core.pointee.writer.failure {
      core.pointee.writer.truncate(to: start)
      throw failure
    }
  }
}

extension JSONWriter {
  /// Whether what was written from here on is an object, and not a form such as a date's.
  fileprivate borrowing func isObject(at start: Int) -> Bool {
    guard start < used, base[start] == ASCII.openBrace else { return false }
    let isForm =
      used - start > 3 && base[start + 2] == ASCII.dollar && base[start + 3] != ASCII.dollar
    return !isForm
  }
}

extension DocumentValue {
  /// The value that an Encodable one is stored as.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``, or what the type throws.
  public init(encoding value: some Encodable) throws {
    var writer = JSONWriter()
    try DocumentEncoder().encodeValue(value, into: &writer)
    var reader = JSONReader(writer.bytes)
    self = try reader.value()
  }
}

extension DocumentObject {
  /// The object that an Encodable value is stored as.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if it is stored as something else,
  ///   ``StoreError/Code/valueNotStorable``, or what the type throws.
  public init(encoding value: some Encodable) throws {
    var writer = JSONWriter()
    try DocumentEncoder().encode(value, into: &writer)
    var reader = JSONReader(writer.bytes)
    self = try reader.object()
  }
}
