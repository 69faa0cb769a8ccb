// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension FuzzTarget {
  /// Strict parsing of external JSON. Parsed values must round-trip, and Foundation must accept whatever the parser
  /// accepts.
  static let json = FuzzTarget("json", maximumLength: 512) { bytes in
    let outcome = parsed(bytes, .plain)
    try compareWithFoundation(bytes, outcome)
    guard case .success(let value) = outcome else { return }
    for isPretty in [false, true] {
      try expectSame(value, parsed(value.jsonString(pretty: isPretty, dialect: .plain), .plain))
      // The extended dialect escapes a name that starts with `$` with another one, and parsing removes it.
      try expectSame(value, parsed(value.jsonString(pretty: isPretty), .extended))
    }
    try expectStoredFormReads(value)
  }

  /// Extended JSON, such as dates. Parsed values must round-trip.
  static let extendedJSON = FuzzTarget("extended-json", maximumLength: 512) { bytes in
    guard case .success(let value) = parsed(bytes, .extended) else { return }
    var writer = JSONWriter()
    writer.text(value)
    if let failure = writer.failure {
      throw Finding(description: "A parsed value cannot be written: \(failure.debugDescription)")
    }
    for isPretty in [false, true] {
      try expectSame(value, parsed(value.jsonString(pretty: isPretty), .extended))
    }
    _ = value.jsonString(dialect: .plain)
    try expectStoredFormReads(value)
  }
}

func parsed(
  _ bytes: UnsafeRawBufferPointer, _ dialect: JSONDialect
) -> Result<DocumentValue, StoreError> {
  Result { () throws(StoreError) in try DocumentValue(json: bytes, dialect: dialect) }
}

func parsed(_ text: String, _ dialect: JSONDialect) -> Result<DocumentValue, StoreError> {
  Result { () throws(StoreError) in try DocumentValue(json: text, dialect: dialect) }
}

/// Compares bit for bit, because equality distinguishes NaN from itself, but not 0.0 from -0.0, nor strings in
/// different normalization forms.
func isSame(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
  switch (a, b) {
  case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
  case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
  case (.date(let a), .date(let b)):
    a.timeIntervalSinceReferenceDate.bitPattern == b.timeIntervalSinceReferenceDate.bitPattern
  case (.url(let a), .url(let b)):
    a.relativeString == b.relativeString && a.baseURL?.absoluteString == b.baseURL?.absoluteString
  case (.array(let a), .array(let b)): a.elementsEqual(b, by: isSame)
  case (.object(let a), .object(let b)):
    a.elementsEqual(b) { $0.name.utf8.elementsEqual($1.name.utf8) && isSame($0.value, $1.value) }
  default: a == b
  }
}

private func expectSame(
  _ value: DocumentValue, _ again: Result<DocumentValue, StoreError>
) throws {
  switch again {
  case .success(let other):
    try require(
      isSame(value, other),
      "\(value.jsonString()) was written and read back as \(other.jsonString())")
  case .failure(let error):
    throw Finding(
      description: "\(value.jsonString()) was written and is rejected: \(error.debugDescription)")
  }
}

/// Expects the reader of stored documents to return the written value and each of its fields.
private func expectStoredFormReads(_ value: DocumentValue) throws {
  var writer = JSONWriter()
  writer.value(value)
  if writer.failure != nil { return }
  var reader = JSONReader(writer.bytes)
  let whole = try reader.value()
  try require(
    isSame(whole, value) && reader.isAtEnd,
    "\(value.jsonString()) was stored and read as \(whole.jsonString())")
  guard case .object(let object) = value else { return }
  let document = Document(Document.Header(), copying: writer.bytes)
  for (name, field) in object where name != DocumentObject.rowIDName {
    try require(
      document[FieldPath(components: [name])].map { isSame($0, field) } == true,
      "The field \(name) of \(value.jsonString()) is not found by its path")
  }
}

// MARK: Foundation

/// The errors for input that the store rejects for its own reasons (docs/SCHEMA.md) or because it is stricter.
/// Foundation may accept such input.
private let ownReasons: Set<String> = [
  "An object has two fields of one name", "An integer is beyond 64 bits",
  "A number is beyond the range of doubles", "A value is nested too deep",
  "A text begins with a byte order mark", "A comma stands before a closing brace",
  "A comma stands before a closing bracket",
]

private func compareWithFoundation(
  _ bytes: UnsafeRawBufferPointer, _ ours: Result<DocumentValue, StoreError>
) throws {
  // Foundation interprets NULs as UTF-16 or UTF-32.
  if bytes.contains(0) { return }
  let isAccepted =
    (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
  switch ours {
  case .success(let value):
    // Foundation also limits nesting to 512 levels, but counts differently.
    let isDeep = bytes.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") } >= 500
    try require(isAccepted || isDeep, "Foundation rejects what parses as \(value.jsonString())")
  case .failure(let error):
    try require(
      !isAccepted || ownReasons.contains(error.message),
      "Foundation accepts what is rejected: \(error.debugDescription)")
  }
}
