// SPDX-License-Identifier: MIT

public import Foundation

/// The treatment of names that begin with `$` in external JSON text.
public enum JSONDialect: Sendable, Hashable {
  /// Plain JSON: values that JSON has no type for are written as strings, and are strings when read
  /// back.
  case plain
  /// Dates, data and other types have forms such as `{"$date":"2009-04-01T00:00:00Z"}`.
  ///
  /// All stored forms are read, as well as MongoDB's Extended JSON: canonical, relaxed and the legacy
  /// shell format. A field name that begins with `$` but is not part of a form is written with a second
  /// `$`.
  case extended
}

extension DocumentValue {
  /// Parses JSON text strictly according to RFC 8259.
  ///
  /// ```swift
  /// let value = try DocumentValue(json: #"{"born":{"$date":"1815-12-10T00:00:00Z"}}"#)
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidJSON`` with the byte offset of the error. Besides syntax
  ///   errors, these are rejected: duplicate names in an object, unpaired surrogates, integers that do
  ///   not fit in 64 bits, numbers out of range for a double, and nesting deeper than 512 levels.
  public init(json text: String, dialect: JSONDialect = .extended) throws(StoreError) {
    self = try StrictParser.parse(text, dialect) { (parser) throws(StoreError) in
      try parser.text()
    }
  }

  /// Parses JSON text in UTF-8 without a byte order mark; see ``init(json:dialect:)-(String,_)``.
  public init(
    json bytes: some ContiguousBytes, dialect: JSONDialect = .extended
  ) throws(StoreError) {
    self = try StrictParser.parse(bytes, dialect) { (parser) throws(StoreError) in
      try parser.text()
    }
  }
}

extension DocumentObject {
  /// Parses JSON text that consists of one object; see
  /// ``DocumentValue/init(json:dialect:)-(String,_)``.
  ///
  /// - Throws: ``StoreError/Code/invalidJSON``, also if the value is not an object.
  public init(json text: String, dialect: JSONDialect = .extended) throws(StoreError) {
    self = try StrictParser.parse(text, dialect) { (parser) throws(StoreError) in
      try parser.objectText()
    }
  }

  /// Parses JSON text in UTF-8 without a byte order mark; see ``init(json:dialect:)-(String,_)``.
  public init(
    json bytes: some ContiguousBytes, dialect: JSONDialect = .extended
  ) throws(StoreError) {
    self = try StrictParser.parse(bytes, dialect) { (parser) throws(StoreError) in
      try parser.objectText()
    }
  }
}

extension StrictParser {
  fileprivate typealias Body<Result> = (inout StrictParser) throws(StoreError) -> Result

  fileprivate static func parse<Result>(
    _ text: String, _ dialect: JSONDialect, _ body: Body<Result>
  ) throws(StoreError) -> Result {
    if let result = text.utf8.withContiguousStorageIfAvailable({
      parse(UnsafeRawBufferPointer($0), dialect, body)
    }) {
      return try result.get()
    }
    return try parse(Array(text.utf8), dialect, body)
  }

  fileprivate static func parse<Result>(
    _ bytes: some ContiguousBytes, _ dialect: JSONDialect, _ body: Body<Result>
  ) throws(StoreError) -> Result {
    // `withUnsafeBytes` does not support typed throws.
    try bytes.withUnsafeBytes { parse($0, dialect, body) }.get()
  }

  /// Returns a `Result`, because functions that lend buffers do not support typed throws.
  private static func parse<Result>(
    _ bytes: UnsafeRawBufferPointer, _ dialect: JSONDialect, _ body: Body<Result>
  ) -> Swift.Result<Result, StoreError> {
    var parser = StrictParser(bytes, dialect)
    do throws(StoreError) {
      return .success(try body(&parser))
    } catch {
      return .failure(error)
    }
  }
}
