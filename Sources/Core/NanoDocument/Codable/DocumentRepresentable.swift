// SPDX-License-Identifier: MIT

/// A type that writes and reads itself as one stored JSON object, without Codable.
///
/// The calls of a collection that take and return `Codable` values do the same with such a type; if a
/// type is both, they use its own codec.
///
/// ```swift
/// struct City: DocumentRepresentable {
///   var name: String
///
///   func write(to writer: inout JSONWriter) {
///     writer.literal(#"{"name":"#)
///     writer.string(name)
///     writer.literal("}")
///   }
///
///   init(reading reader: inout JSONReader) throws(StoreError) {
///     var name: String?
///     try reader.fields { (reader: inout JSONReader, field) throws(StoreError) in
///       if field.matches("name") { name = try reader.string() } else { try reader.skipValue() }
///     }
///     guard let name else { throw reader.missingField("name") }
///     self.name = name
///   }
/// }
/// ```
///
/// A codec is code that can be wrong. The calls that store a single value check what it wrote, and throw
/// ``StoreError/Code/valueNotStorable`` for anything but one object in stored form; the calls that
/// insert many values do so in debug builds only. A type whose values can nest in each other also has
/// to call ``JSONWriter/enter()`` and ``JSONReader/enter()``.
public protocol DocumentRepresentable: FieldCodable {}

extension DocumentRepresentable {
  /// Writes the value as one document.
  ///
  /// - Throws: ``StoreError/Code/valueNotStorable`` if the codec writes anything but one object in
  ///   stored form. A value that it could not write is recorded in the writer.
  package func writeChecked(to writer: inout JSONWriter) throws(StoreError) {
    write(to: &writer)
    try writer.checkCodec(of: Self.self)
  }

  /// Does the same, but checks only in debug builds: parsing the text costs more than writing it.
  @inlinable
  package func writeCheckedInDebugBuilds(to writer: inout JSONWriter) throws(StoreError) {
    write(to: &writer)
    try writer.checkCodecInDebugBuilds(of: Self.self)
  }
}

extension JSONWriter {
  @usableFromInline
  borrowing func checkCodecInDebugBuilds<Value>(of type: Value.Type) throws(StoreError) {
    #if DEBUG
      try checkCodec(of: type)
    #endif
  }

  fileprivate borrowing func checkCodec<Value>(of type: Value.Type) throws(StoreError) {
    guard failure == nil else { return }
    var reason: StoreError?
    do throws(StoreError) {
      guard try CanonicalBody.rewritten(bytes) != nil else { return }
    } catch {
      reason = error
    }
    let wrong = StoreError(
      .valueNotStorable, "A codec wrote something other than one object in stored form",
      [
        .operation: "write(to:) of \(type)",
        .hint:
          "check its braces, commas and colons; write values and names with JSONWriter's methods",
      ])
    guard let offset = reason?[.byteOffset] else { throw wrong }
    throw wrong.adding(.byteOffset, offset)
  }
}

extension DocumentObject: DocumentRepresentable {
  /// Writes the object. Excessive nesting or a date out of range sets the writer's failure.
  public func write(to writer: inout JSONWriter) { writer.object(self) }

  /// Reads the object.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.object() }
}
