// SPDX-License-Identifier: MIT

public import Foundation

/// What names that begin with `$` mean in JSON text from outside.
public enum JSONDialect: Sendable, Hashable {
  /// Nothing special: what JSON does not know is written as text, and stays text when read.
  case plain
  /// Dates, data and so on have forms such as `{"$date":"2009-04-01T00:00:00Z"}`: those that a
  /// store writes, and those of MongoDB's Extended JSON, canonical, relaxed and of the old shell. A
  /// name that begins with `$` and is none of them has one more `$` when written by us.
  case extended
}

extension DocumentValue {
  /// Parses JSON text by the letter of RFC 8259.
  ///
  /// ```swift
  /// let value = try DocumentValue(json: #"{"born":{"$date":"1815-12-10T00:00:00Z"}}"#)
  /// ```
  ///
  /// - Throws: ``StoreError/Code/invalidJSON`` with the offset of the byte that is wrong. Besides
  ///   faults of form these are: a name twice in an object, half a surrogate pair, integers beyond
  ///   64 bits, numbers beyond all doubles, and nesting beyond ``maximumDepth``.
  public init(json text: String, dialect: JSONDialect = .extended) throws(StoreError) {
    self = try StrictParser.parse(text, dialect) { (parser) throws(StoreError) in
      try parser.text()
    }
  }

  /// As ``init(json:dialect:)-(String,_)``, for text in UTF-8 without a byte order mark.
  public init(
    json bytes: some ContiguousBytes, dialect: JSONDialect = .extended
  ) throws(StoreError) {
    self = try StrictParser.parse(bytes, dialect) { (parser) throws(StoreError) in
      try parser.text()
    }
  }
}

extension DocumentObject {
  /// Parses JSON text that must be one object; see
  /// ``DocumentValue/init(json:dialect:)-(String,_)``.
  ///
  /// - Throws: ``StoreError/Code/invalidJSON``, also if the value is another than an object.
  public init(json text: String, dialect: JSONDialect = .extended) throws(StoreError) {
    self = try StrictParser.parse(text, dialect) { (parser) throws(StoreError) in
      try parser.objectText()
    }
  }

  /// As ``init(json:dialect:)-(String,_)``, for text in UTF-8 without a byte order mark.
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
    // `withUnsafeBytes` does not know typed errors.
    try bytes.withUnsafeBytes { parse($0, dialect, body) }.get()
  }

  /// As a result, for the functions that lend out bytes do not know typed errors.
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
