// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoSQLite

/// Rebuilds documents whose content is unreadable from `NSFValues`, the table of values by path
/// that NanoStore searched.
final class NanoStoreRebuilder {
  /// The number of documents that are rebuilt. Arbitrary, to bound the memory.
  static let maximumDocuments = 10_000

  private let file: SQLiteSource
  private let maximumValues: Int
  private var objects: [ExactName: DocumentObject] = [:]

  /// - Parameter maximumValues: The number of values in all documents. Arbitrary, to bound the memory.
  init(_ file: SQLiteSource, maximumValues: Int = 1_000_000) {
    self.file = file
    self.maximumValues = maximumValues
  }

  func object(_ key: String) -> DocumentObject? { objects[ExactName(key)] }

  /// Reads the values of documents with these keys. A document of which a value is left out is not rebuilt.
  func collect(_ keys: Set<ExactName>) {
    guard !keys.isEmpty, let table = file.tables.table("NSFValues"),
      let key = table.column("NSFKey"),
      let attribute = table.column("NSFAttribute"), let value = table.column("NSFValue"),
      let datatype = table.column("NSFDatatype")
    else { return }
    var left = maximumValues
    var incomplete: Set<ExactName> = []
    file.each(in: table) { row in
      guard let name = row.values[key].name.map({ ExactName($0) }), keys.contains(name),
        !incomplete.contains(name), let path = row.values[attribute].text
      else { return }
      left -= 1
      let value = Self.value(row.values[value], row.values[datatype].text)
      let names = path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .map { String(Substring($0)) }
      guard left >= 0, names.count < KeyedArchive.maximumDepth else {
        incomplete.insert(name)
        objects[name] = nil
        return
      }
      objects[name, default: [:]].add(value, at: names[...])
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
  ///
  /// The table does not tell the elements of an array apart: the values of the dictionaries in one have the path of the
  /// array and their name, so they form one dictionary, beside the elements of other types.
  fileprivate mutating func add(_ value: DocumentValue, at names: ArraySlice<String>) {
    guard let name = names.first else { return }
    if names.count > 1 {
      var others: [DocumentValue] = []
      var inner: DocumentObject = [:]
      switch self[name] {
      case nil: break
      case .object(let object): inner = object
      case .array(let values): others = values
      case let value?: others = [value]
      }
      // The only references, so that adding does not copy the values.
      self[name] = .null
      if case .object(let last)? = others.last {
        inner = last
        others.removeLast()
      }
      inner.add(value, at: names.dropFirst())
      others.append(.object(inner))
      self[name] = others.count == 1 ? others[0] : .array(others)
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
