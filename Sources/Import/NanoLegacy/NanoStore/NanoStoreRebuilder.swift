// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoSQLite

/// Rebuilds documents whose content is unreadable from `NSFValues`, the table of values by path
/// that NanoStore searched.
final class NanoStoreRebuilder {
  /// The number of documents that are rebuilt, and the number of values. Arbitrary, to bound the
  /// memory.
  static let maximumDocuments = 10_000
  private static let maximumValues = 1_000_000

  private let file: SQLiteSource
  private var objects: [ExactName: DocumentObject] = [:]

  init(_ file: SQLiteSource) { self.file = file }

  func object(_ key: String) -> DocumentObject? { objects[ExactName(key)] }

  /// Reads the values of documents with these keys.
  func collect(_ keys: Set<ExactName>) {
    guard !keys.isEmpty, let table = file.tables.table("NSFValues"),
      let key = table.column("NSFKey"),
      let attribute = table.column("NSFAttribute"), let value = table.column("NSFValue"),
      let datatype = table.column("NSFDatatype")
    else { return }
    var left = Self.maximumValues
    file.each(in: table) { row in
      guard left > 0, let key = row.values[key].name, keys.contains(ExactName(key)),
        let path = row.values[attribute].text
      else { return }
      left -= 1
      let value = Self.value(row.values[value], row.values[datatype].text)
      let names = path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .map { String(Substring($0)) }
      guard names.count < KeyedArchive.maximumDepth else { return }
      objects[ExactName(key), default: [:]].add(value, at: names[...])
    }
  }

  private static func value(_ value: SQLiteTables.Value, _ datatype: String?) -> DocumentValue {
    switch value {
    case .null: return .null
    case .int(let number): return datatype == "TEXT" ? .string(String(number)) : .int(number)
    case .double(let number): return datatype == "TEXT" ? .string("\(number)") : .double(number)
    case .blob(let bytes): return .data(Data(bytes))
    case .invalidText(let bytes): return .data(Data(bytes))
    case .text(let text):
      guard datatype == "URL", let url = URL(string: text),
        url.relativeString.hasSameBytes(as: text)
      else {
        return .string(text)
      }
      return .url(url)
    }
  }
}

extension DocumentObject {
  /// Adds a value at a path. Several values at one path form an array.
  fileprivate mutating func add(_ value: DocumentValue, at names: ArraySlice<String>) {
    guard let name = names.first else { return }
    if names.count > 1 {
      var inner = self[name]?.object ?? [:]
      // The only reference, so that adding does not copy the object.
      self[name] = .null
      inner.add(value, at: names.dropFirst())
      self[name] = .object(inner)
      return
    }
    switch self[name] {
    case nil: self[name] = value
    case .array(var values):
      // For the same reason.
      self[name] = .null
      values.append(value)
      self[name] = .array(values)
    case let first?: self[name] = .array([first, value])
    }
  }
}
