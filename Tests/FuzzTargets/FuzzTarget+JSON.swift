// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument

extension FuzzTarget {
  /// JSON text from outside, by the letter: what is written of what was parsed parses to the same, and Foundation
  /// takes what is taken.
  static let json = FuzzTarget("json", maximumLength: 512) { bytes in
    let outcome = parsed(bytes, .plain)
    try compareWithFoundation(bytes, outcome)
    guard case .success(let value) = outcome else { return }
    for isPretty in [false, true] {
      try expectSame(value, parsed(value.jsonString(pretty: isPretty, dialect: .plain), .plain))
      // A name that begins with `$` has one more in the extended dialect, which is taken away again.
      try expectSame(value, parsed(value.jsonString(pretty: isPretty), .extended))
    }
    try expectStoredFormReads(value)
  }

  /// Extended JSON: forms of dates and so on, which come back as they are once they were read.
  static let extendedJSON = FuzzTarget("extended-json", maximumLength: 512) { bytes in
    guard case .success(let value) = parsed(bytes, .extended) else { return }
    var writer = JSONWriter()
    writer.text(value)
    if let failure = writer.failure {
      throw Finding(description: "What was parsed cannot be written: \(failure.debugDescription)")
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

/// To the bit: equality takes NaN for nothing, 0.0 for -0.0, and texts for the same that are composed differently.
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
      description: "\(value.jsonString()) was written and is refused: \(error.debugDescription)")
  }
}

/// The reader of stored documents gives the value that was written, and each of its fields.
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
      "The field \(name) of \(value.jsonString()) is not found by itself")
  }
}

// MARK: Foundation

/// What we refuse for reasons of our own (docs/SCHEMA.md), or by the letter; Foundation may take it.
private let ourReasons: Set<String> = [
  "An object has two fields with the same name", "An integer does not fit in 64 bits",
  "A number is out of range for a double", "A value is nested too deeply",
  "The text begins with a byte order mark", "An object has a trailing comma",
  "An array has a trailing comma",
]

private func compareWithFoundation(
  _ bytes: UnsafeRawBufferPointer, _ ours: Result<DocumentValue, StoreError>
) throws {
  // Foundation takes NULs for a sign of UTF-16 and UTF-32.
  if bytes.contains(0) { return }
  let isTheirs =
    (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
  switch ours {
  case .success(let value):
    // Foundation stops at 512 levels as well, and counts another one.
    let isDeep = bytes.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") } >= 500
    try require(isTheirs || isDeep, "Foundation refuses what we read as \(value.jsonString())")
  case .failure(let error):
    try require(
      !isTheirs || ourReasons.contains(error.message),
      "Foundation takes what we refuse: \(error.debugDescription)")
  }
}
