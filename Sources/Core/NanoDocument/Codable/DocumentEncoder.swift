// SPDX-License-Identifier: MIT

/// Encodes any `Encodable` value in its stored form.
///
/// Dates, data, URLs and `Decimal` have their own stored forms, a `UUID` is stored as a string, a `Duration` as its seconds,
/// and a ``DocumentValue`` as the value it represents. An encoder reuses its buffers. Create one
/// per task; do not share it between concurrent tasks.
///
/// ```swift
/// var writer = JSONWriter()
/// try DocumentEncoder().encode(person, into: &writer)
/// ```
///
/// If a type interleaves writes to several nested containers, or encodes the same key twice, its
/// `encode(to:)` is called a second time.
public final class DocumentEncoder {
  /// Contextual information that types read from `encoder.userInfo`.
  public var userInfo: [CodingUserInfoKey: Any] = [:]

  private var idle: EncodingState?

  /// Creates an encoder. Reuse it for many documents to avoid repeated allocation.
  public init() {}

  /// Appends a document: a value that encodes as an object.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the value does not encode as an object,
  ///   ``StoreError/Code/valueNotStorable``, or any error the type throws. The writer's contents are
  ///   unchanged.
  public func encode<Value: Encodable>(_ value: Value, into writer: inout JSONWriter) throws {
    let start = writer.count
    try encodeValue(value, into: &writer)
    guard writer.isObject(at: start) else {
      writer.truncate(to: start)
      throw StoreError(
        .invalidArgument, "The value does not encode as an object",
        [.expected: "a type that encodes as an object", .actual: "\(Value.self)"])
    }
  }

  /// Appends a value of any kind.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``, or any error the type throws. The writer's
  ///   contents are unchanged.
  public func encodeValue<Value: Encodable>(_ value: Value, into writer: inout JSONWriter) throws {
    var state = idle ?? EncodingState()
    idle = nil
    state.userInfo = userInfo
    let core = state.core
    swap(&core.pointee.writer, &writer)
    defer {
      swap(&core.pointee.writer, &writer)
      core.pointee.reset()
      // A container that outlives this call must not write into the next one.
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
  /// Returns whether the text from `start` is an object, rather than a stored form such as a date.
  fileprivate borrowing func isObject(at start: Int) -> Bool {
    guard start < used, base[start] == ASCII.openBrace else { return false }
    let isForm =
      used - start > 3 && base[start + 2] == ASCII.dollar && base[start + 3] != ASCII.dollar
    return !isForm
  }
}

extension DocumentValue {
  /// Creates the value that an `Encodable` value is stored as.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable``, or any error the type throws.
  public init(encoding value: some Encodable) throws {
    var writer = JSONWriter()
    try DocumentEncoder().encodeValue(value, into: &writer)
    var reader = JSONReader(writer.bytes)
    self = try reader.value()
  }
}

extension DocumentObject {
  /// Creates the object that an `Encodable` value is stored as.
  ///
  /// - Throws: ``StoreError/Code/invalidArgument`` if the value does not encode as an object,
  ///   ``StoreError/Code/valueNotStorable``, or any error the type throws.
  public init(encoding value: some Encodable) throws {
    var writer = JSONWriter()
    try DocumentEncoder().encode(value, into: &writer)
    var reader = JSONReader(writer.bytes)
    self = try reader.object()
  }
}
