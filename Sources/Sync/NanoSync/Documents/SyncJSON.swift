// SPDX-License-Identifier: MIT

import Foundation
package import NanoDocument

/// The JSON of documents as the replication protocol carries it.
///
/// Any JSON that another program stored comes back as it was, names that begin with `$` included. Values that JSON has no
/// type for have the forms of Extended JSON; an object of an application that merely looks like such a form gets another
/// `$` before each of its names. A document itself is never a form, whatever its names are: its text may have `_id` and
/// others beside them, or not.
package enum SyncJSON {
  /// Which objects of a text are documents.
  package enum Documents: Sendable {
    case none
    case outermost
    /// The elements of the array with this name in the outermost object, which is no form either.
    case elements(of: String)
  }

  /// Parses a document.
  ///
  /// Integers beyond 64 bits become doubles, as in JavaScript.
  ///
  /// - Throws: ``StoreError/Code/invalidJSON``.
  package static func object(_ bytes: [UInt8]) throws(StoreError) -> DocumentObject {
    guard case .object(let object) = try value(bytes, documents: .outermost) else {
      throw StoreError(.invalidJSON, "The value is not an object", [.expected: "an object"])
    }
    return object
  }

  package static func value(
    _ bytes: [UInt8], documents: Documents = .none
  ) throws(StoreError) -> DocumentValue {
    do throws(StoreError) {
      return try parsed(bytes, documents)
    } catch {
      guard let narrowed = withoutWideIntegers(bytes) else { throw error }
      return try parsed(narrowed, documents)
    }
  }

  private static func parsed(
    _ bytes: [UInt8], _ documents: Documents
  ) throws(StoreError) -> DocumentValue {
    let value = try DocumentValue(json: bytes, dialect: .plain)
    guard mentionsReservedName(bytes) else { return value }
    guard case .object(let object) = value else { return decoded(value) }
    switch documents {
    case .none: return decoded(value)
    case .outermost: return .object(decodedDocument(object))
    case .elements(let name): return .object(decodedList(object, name))
    }
  }

  /// Returns a document as JSON.
  package static func bytes(_ object: DocumentObject) -> [UInt8] {
    var writer = JSONWriter(capacity: 512)
    write(object, escape: "", to: &writer)
    return writer.withBytes { Array($0) }
  }

  package static func bytes(_ value: DocumentValue) -> [UInt8] {
    var writer = JSONWriter(capacity: 512)
    write(value, to: &writer)
    return writer.withBytes { Array($0) }
  }

  /// Returns the object with the types of JSON only, which its JSON text has.
  package static func plain(_ object: DocumentObject) throws(StoreError) -> DocumentObject {
    let value = DocumentValue.object(object)
    if !hasSpecialValues(value) { return object }
    // Revision hashes depend on the result, which is therefore that of an object inside a document.
    return try DocumentObject(json: bytes(value), dialect: .plain)
  }
}

// Reserved names.
extension SyncJSON {
  private static func mentionsReservedName(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      var at = 0
      while at < bytes.count, let found = memchr(base + at, 0x24, bytes.count - at) {
        at = UnsafeRawPointer(found) - base + 1
        // An escaped dollar sign in a name is none of a form: forms are written without escapes.
        if at >= 2, bytes[at - 2] == UInt8(ascii: "\"") { return true }
      }
      return false
    }
  }

  private static func isReserved(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "$") }

  /// Whether forms have such values: all are scalars, but that of data, an object of two texts. Without this limit, the
  /// text of nested objects would be interpreted once for each level.
  private static func isPartOfForm(_ value: DocumentValue) -> Bool {
    switch value {
    case .array: false
    case .object(let object): object.count == 2 && object.allSatisfy { $0.value.string != nil }
    default: true
    }
  }

  /// Returns the value that an object stands for; nil if it is an ordinary object.
  private static func special(_ object: DocumentObject) -> DocumentValue? {
    guard (1...3).contains(object.count),
      object.allSatisfy({ isReserved($0.name) && isPartOfForm($0.value) })
    else { return nil }
    var writer = JSONWriter(capacity: 64)
    writer.text(.object(object), dialect: .plain)
    guard let value = try? DocumentValue(json: writer.withBytes { Array($0) }) else { return nil }
    if case .object = value { return nil }
    // A form that has the same value in another spelling, such as a date as a number, would not come back as it was.
    var back = JSONWriter(capacity: 64)
    back.text(value)
    guard let again = try? DocumentObject(json: back.withBytes { Array($0) }, dialect: .plain),
      again == object
    else { return nil }
    return value
  }

  /// Whether an object would be read as something else.
  private static func needsEscape(_ object: DocumentObject) -> Bool {
    innermost(object).flatMap(special) != nil
  }

  /// Returns the object without the `$` that all of its names have beyond one; nil unless all begin with one. Forms have
  /// one, so that only this object can be one.
  private static func innermost(_ object: DocumentObject) -> DocumentObject? {
    guard (1...3).contains(object.count) else { return nil }
    let dollars = object.map { $0.name.utf8.prefix { $0 == UInt8(ascii: "$") }.count }.min() ?? 0
    return dollars == 0 ? nil : dollars == 1 ? object : object.droppingFirst(dollars - 1)
  }

  /// Returns the object whose names were escaped; nil if they were not.
  private static func unescaped(_ object: DocumentObject) -> DocumentObject? {
    guard object.allSatisfy({ $0.name.hasExactPrefix("$$") }), needsEscape(object) else {
      return nil
    }
    return object.droppingFirst(1)
  }

  private static func decoded(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .array(let elements): return .array(elements.map(decoded))
    case .object(let object):
      if let special = special(object) { return special }
      return .object(decodedDocument(unescaped(object) ?? object))
    default: return value
    }
  }

  /// Returns an object that is no form, with the values that its fields stand for.
  private static func decodedDocument(_ object: DocumentObject) -> DocumentObject {
    DocumentObject(object.map { ($0.name, decoded($0.value)) })
  }

  /// Returns an object that has documents in an array.
  private static func decodedList(_ object: DocumentObject, _ list: String) -> DocumentObject {
    DocumentObject(
      object.map { field -> (String, DocumentValue) in
        guard field.name.hasSameBytes(as: list), case .array(let elements) = field.value else {
          return (field.name, decoded(field.value))
        }
        let documents = elements.map { element -> DocumentValue in
          guard case .object(let object) = element else { return decoded(element) }
          return .object(decodedDocument(object))
        }
        return (field.name, .array(documents))
      })
  }

  private static func write(_ value: DocumentValue, to writer: inout JSONWriter) {
    switch value {
    case .array(let elements):
      writer.byte(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { writer.byte(UInt8(ascii: ",")) }
        write(element, to: &writer)
      }
      writer.byte(UInt8(ascii: "]"))
    case .object(let object):
      write(object, escape: needsEscape(object) ? "$" : "", to: &writer)
    default: writer.text(value)
    }
  }

  /// - Parameter escape: What is written before each of the names.
  private static func write(
    _ object: DocumentObject, escape: String, to writer: inout JSONWriter
  ) {
    writer.byte(UInt8(ascii: "{"))
    for (index, field) in object.enumerated() {
      if index > 0 { writer.byte(UInt8(ascii: ",")) }
      writer.string(escape.isEmpty ? field.name : escape + field.name)
      writer.byte(UInt8(ascii: ":"))
      write(field.value, to: &writer)
    }
    writer.byte(UInt8(ascii: "}"))
  }

  private static func hasSpecialValues(_ value: DocumentValue) -> Bool {
    switch value {
    case .date, .data, .url, .decimal: true
    case .double(let number): !number.isFinite
    case .array(let elements): elements.contains(where: hasSpecialValues)
    case .object(let object): needsEscape(object) || object.contains { hasSpecialValues($0.value) }
    default: false
    }
  }

  /// Returns the text with integers of more than 18 digits as doubles; nil if there is none.
  private static func withoutWideIntegers(_ bytes: [UInt8]) -> [UInt8]? {
    var out: [UInt8] = []
    var (at, isChanged) = (0, false)
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "\"") {
        // Strings are copied as they are.
        var end = at + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
          end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        end = min(end + 1, bytes.count)
        out += bytes[at..<end]
        at = end
      } else if (0x30...0x39).contains(byte) {
        let digits = bytes[at...].prefix { (0x30...0x39).contains($0) }
        let rest = bytes[digits.endIndex...].first
        out += digits
        at = digits.endIndex
        if rest == UInt8(ascii: ".") || rest.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
          let tail = bytes[at...].prefix { byte in
            (0x30...0x39).contains(byte) || ".eE+-".utf8.contains(byte)
          }
          out += tail
          at = tail.endIndex
        } else if digits.count > 18, Int64(String(decoding: digits, as: UTF8.self)) == nil {
          out += Array("e0".utf8)
          isChanged = true
        }
      } else {
        out.append(byte)
        at += 1
      }
    }
    return isChanged ? out : nil
  }
}

extension DocumentObject {
  /// Returns the object without the first bytes of its names, which are ASCII.
  fileprivate func droppingFirst(_ count: Int) -> DocumentObject {
    DocumentObject(
      map { (String(decoding: $0.name.utf8.dropFirst(count), as: UTF8.self), $0.value) })
  }
}
