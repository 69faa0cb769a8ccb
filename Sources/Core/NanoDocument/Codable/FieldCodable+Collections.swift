// SPDX-License-Identifier: MIT

public import Foundation

extension Optional: FieldCodable where Wrapped: FieldCodable {
  /// Writes `null` for `nil`. Fields that are `nil` are omitted instead; see
  /// ``FieldCodable/isMissing``.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) {
    switch self {
    case .some(let value): value.write(to: &writer)
    case .none: writer.null()
    }
  }
  /// Reads the wrapped value; `null` becomes `nil`.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) {
    self = reader.consumeNull() ? nil : try Wrapped(reading: &reader)
  }
  /// `nil`: a missing field is read as `nil`.
  @inlinable @inline(__always)
  public static var missingValue: Wrapped?? { .some(nil) }
  /// Whether the value is `nil`, in which case the field is omitted.
  @inlinable @inline(__always)
  public var isMissing: Bool { self == nil }
}

extension Array: FieldCodable where Element: FieldCodable {
  /// Writes the elements as an array.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) {
    guard writer.enter() else { return }
    writer.array(self) { (writer, element) in element.write(to: &writer) }
    writer.leave()
  }
  /// Reads an array. A single value is read as an array of one element, so that a field can become a
  /// list.
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) {
    guard reader.isAtArray else {
      self = [try reader.onlyElement()]
      return
    }
    try reader.enter()
    self = try reader.array { (reader) throws(StoreError) in try Element(reading: &reader) }
    reader.leave()
  }
}

extension JSONReader {
  /// Whether the next value is an array.
  @inlinable @inline(__always)
  var isAtArray: Bool {
    mutating get {
      skipWhitespace()
      return next == ASCII.openBracket
    }
  }

  @usableFromInline @inline(never)
  mutating func onlyElement<Element: FieldCodable>() throws(StoreError) -> Element {
    guard !isNull else { throw mismatch("an array") }
    return try Element(reading: &self)
  }
}

extension Set: FieldCodable where Element: FieldCodable {
  /// Writes the elements as an array sorted by encoded bytes, so that equal sets produce equal
  /// documents.
  public func write(to writer: inout JSONWriter) {
    guard writer.enter() else { return }
    writer.sorted(map { element in { (writer: inout JSONWriter) in element.write(to: &writer) } })
    writer.leave()
  }
  /// Reads an array, or a single value as a set of one element.
  public init(reading reader: inout JSONReader) throws(StoreError) {
    self = Set(try [Element](reading: &reader))
  }
}

extension JSONWriter {
  /// Writes an array whose elements are sorted by their encoded bytes.
  fileprivate mutating func sorted(_ elements: [(inout JSONWriter) -> Void]) {
    var texts: [[UInt8]] = []
    for write in elements {
      let start = count
      write(&self)
      texts.append(Array(bytes[start...]))
      truncate(to: start)
    }
    texts.sort { $0.lexicographicallyPrecedes($1) }
    array(texts) { (writer, text) in text.withUnsafeBytes { writer.raw($0) } }
  }
}

/// A type whose values can be field names, so that a dictionary keyed by it is stored as an object.
///
/// A `RawRepresentable` type whose raw value conforms needs only to declare the conformance.
public protocol FieldNameConvertible: Hashable, SendableMetatype {
  /// The field name for this value.
  var fieldName: String { get }
  /// Creates the value for a field name, or returns `nil` if there is none.
  init?(fieldName: String)
}

extension String: FieldNameConvertible {
  /// The string itself.
  public var fieldName: String { self }
  /// Creates the string that equals the field name.
  public init?(fieldName: String) { self = fieldName }
}

extension FieldNameConvertible where Self: LosslessStringConvertible {
  /// The value's `description`.
  public var fieldName: String { description }
  /// Creates the value that the field name describes, or returns `nil` if there is none.
  public init?(fieldName: String) { self.init(fieldName) }
}

extension Int: FieldNameConvertible {}
extension Int64: FieldNameConvertible {}
extension UUID: FieldNameConvertible {
  /// The UUID string, in uppercase.
  public var fieldName: String { uuidString }
  /// Creates a UUID from its string form, or returns `nil` if the field name is not a UUID.
  public init?(fieldName: String) { self.init(uuidString: fieldName) }
}

extension FieldNameConvertible where Self: RawRepresentable, RawValue: FieldNameConvertible {
  /// The field name of the raw value.
  public var fieldName: String { rawValue.fieldName }
  /// Creates the value whose raw value has this field name, or returns `nil` if there is none.
  public init?(fieldName: String) {
    guard let raw = RawValue(fieldName: fieldName) else { return nil }
    self.init(rawValue: raw)
  }
}

extension Dictionary: FieldCodable where Key: FieldNameConvertible, Value: FieldCodable {
  /// Writes an object with its fields sorted by name, so that equal dictionaries produce equal
  /// documents.
  public func write(to writer: inout JSONWriter) {
    guard writer.enter() else { return }
    let named = map { (name: $0.key.fieldName, value: $0.value) }.sorted {
      $0.name.isBefore($1.name)
    }
    writer.byte(ASCII.openBrace)
    var isFirst = true
    for (name, value) in named {
      if !isFirst { writer.byte(ASCII.comma) }
      isFirst = false
      writer.fieldName(name)
      value.write(to: &writer)
    }
    writer.byte(ASCII.closeBrace)
    writer.leave()
  }

  /// Reads an object. If a name occurs twice, the first value is used.
  ///
  /// Also reads an array of alternating keys and values, which Codable writes for most key types.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch``, also for a name that is not a valid key, and for two
  ///   names that are equal as keys, such as two Unicode normalization forms of one string;
  ///   ``StoreError/Code/corruptDocument``.
  public init(reading reader: inout JSONReader) throws(StoreError) {
    try reader.enter()
    if reader.isAtArray {
      self = try reader.alternating()
    } else {
      guard !reader.isStoredForm else { throw reader.mismatch("an object") }
      var read: Self = [:]
      try reader.fields { (reader: inout JSONReader, name) throws(StoreError) in
        guard let key = Key(fieldName: try name.text) else { throw reader.unknownName() }
        let before = reader
        let value = try Value(reading: &reader)
        try before.add(value, key, to: &read)
      }
      self = read
    }
    reader.leave()
  }
}

extension JSONReader {
  /// Reads an array of alternating keys and values.
  @inline(never)
  fileprivate mutating func alternating<Key: FieldNameConvertible, Value: FieldCodable>()
    throws(StoreError) -> [Key: Value]
  {
    var read: [Key: Value] = [:]
    try expect(ASCII.openBracket)
    if peekConsume(ASCII.closeBracket) { return read }
    repeat {
      let before = self
      let name = kind() == .number ? "\(try integer() as Int64)" : try string()
      guard let key = Key(fieldName: name) else { throw before.unknownName() }
      guard peekConsume(ASCII.comma) else { throw before.mismatch("a name with a value") }
      let value = try Value(reading: &self)
      try before.add(value, key, to: &read)
    } while peekConsume(ASCII.comma)
    try expect(ASCII.closeBracket)
    return read
  }

  /// Adds a value. If a name occurs twice, the first value is kept. Two names that are equal as keys,
  /// such as two Unicode normalization forms of one string, are rejected: saving the dictionary would
  /// lose a field.
  @inline(__always)
  fileprivate func add<Key: FieldNameConvertible, Value>(
    _ value: Value, _ key: Key, to read: inout [Key: Value]
  ) throws(StoreError) {
    guard let existing = read.index(forKey: key) else {
      read[key] = value
      return
    }
    guard read[existing].key.fieldName.hasSameBytes(as: key.fieldName) else {
      throw mismatch("names that are distinct dictionary keys")
    }
  }

  @inline(never)
  fileprivate func unknownName() -> StoreError { mismatch("a field name that is a valid key") }
}
