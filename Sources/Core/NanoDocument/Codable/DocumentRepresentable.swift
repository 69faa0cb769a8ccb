// SPDX-License-Identifier: MIT

/// A type that writes and reads itself as one stored JSON object, without Codable.
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
public protocol DocumentRepresentable: FieldCodable {}

extension DocumentObject: DocumentRepresentable {
  /// Writes the object. Excessive nesting or a date out of range sets the writer's failure.
  public func write(to writer: inout JSONWriter) { writer.object(self) }

  /// Reads the object.
  ///
  /// - Throws: ``StoreError/Code/corruptDocument`` or ``StoreError/Code/typeMismatch``.
  public init(reading reader: inout JSONReader) throws(StoreError) { self = try reader.object() }
}
