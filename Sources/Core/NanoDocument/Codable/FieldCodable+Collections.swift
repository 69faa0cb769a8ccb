// SPDX-License-Identifier: MIT

public import Foundation

extension Optional: FieldCodable where Wrapped: FieldCodable {
  /// Nil is null where something must stand, and left out where a field can be.
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) {
    switch self {
    case .some(let value): value.write(to: &writer)
    case .none: writer.null()
    }
  }
  @inlinable @inline(__always)
  public init(reading reader: inout JSONReader) throws(StoreError) {
    self = reader.consumeNull() ? nil : try Wrapped(reading: &reader)
  }
  @inlinable @inline(__always)
  public static var missingValue: Wrapped?? { .some(nil) }
  @inlinable @inline(__always)
  public var isMissing: Bool { self == nil }
}

extension Array: FieldCodable where Element: FieldCodable {
  @inlinable @inline(__always)
  public func write(to writer: inout JSONWriter) {
    guard writer.enter() else { return }
    writer.array(self) { (writer, element) in element.write(to: &writer) }
    writer.leave()
  }
  /// A single value is an array of one, so that a field may become a list.
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
  /// Whether an array stands here.
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
  /// Written in the order of the elements' bytes, so that equal sets are equal documents.
  public func write(to writer: inout JSONWriter) {
    guard writer.enter() else { return }
    writer.sorted(map { element in { (writer: inout JSONWriter) in element.write(to: &writer) } })
    writer.leave()
  }
  public init(reading reader: inout JSONReader) throws(StoreError) {
    self = Set(try [Element](reading: &reader))
  }
}

extension JSONWriter {
  /// Writes an array whose elements are sorted by their bytes.
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

/// A type whose values can be the names of fields, so that a dictionary of them is an object.
///
/// Types with raw values of such a type need no more than the name of the protocol.
public protocol FieldNameConvertible: Hashable, SendableMetatype {
  /// The name of the field.
  var fieldName: String { get }
  /// Nil if no value has this name.
  init?(fieldName: String)
}

extension String: FieldNameConvertible {
  public var fieldName: String { self }
  public init?(fieldName: String) { self = fieldName }
}

extension FieldNameConvertible where Self: LosslessStringConvertible {
  public var fieldName: String { description }
  public init?(fieldName: String) { self.init(fieldName) }
}

extension Int: FieldNameConvertible {}
extension Int64: FieldNameConvertible {}
extension UUID: FieldNameConvertible {
  public var fieldName: String { uuidString }
  public init?(fieldName: String) { self.init(uuidString: fieldName) }
}

extension FieldNameConvertible where Self: RawRepresentable, RawValue: FieldNameConvertible {
  public var fieldName: String { rawValue.fieldName }
  public init?(fieldName: String) {
    guard let raw = RawValue(fieldName: fieldName) else { return nil }
    self.init(rawValue: raw)
  }
}

extension Dictionary: FieldCodable where Key: FieldNameConvertible, Value: FieldCodable {
  /// Written in the order of the names, so that equal dictionaries are equal documents.
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

  /// Of two fields with one name the first counts. An array of names and values in turns is read too, which
  /// Codable writes for most types of keys.
  ///
  /// - Throws: ``StoreError/Code/typeMismatch`` also for a name that no key has, and for two names that are one
  ///   key, as two Unicode forms of a text are for Swift.
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
  /// Reads an array in which a value stands behind each name.
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

  /// Of two fields with one name the first counts. Two names that Swift takes for one key, as two
  /// Unicode forms of a text, do not fit into a dictionary: saving it would lose a field.
  @inline(__always)
  fileprivate func add<Key: FieldNameConvertible, Value>(
    _ value: Value, _ key: Key, to read: inout [Key: Value]
  ) throws(StoreError) {
    guard let known = read.index(forKey: key) else {
      read[key] = value
      return
    }
    guard read[known].key.fieldName.isSame(as: key.fieldName) else {
      throw mismatch("names that are different keys of a dictionary")
    }
  }

  @inline(never)
  fileprivate func unknownName() -> StoreError { mismatch("a field name that is a key") }
}
