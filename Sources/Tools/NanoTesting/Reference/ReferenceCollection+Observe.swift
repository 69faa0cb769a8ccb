// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

extension ReferenceCollection {
  /// Records every path of a document with the type of its value.
  mutating func observe(_ object: DocumentObject) throws(StoreError) {
    for (name, value) in object { observe(value, at: Self.quoted(name)) }
  }

  private mutating func observe(_ value: DocumentValue, at path: String) {
    observed[ExactName(path), default: []].insert(Self.type(value))
    switch value {
    case .array(let array):
      for element in array { observe(element, at: path + "[]") }
    case .object(let object):
      for (name, field) in object { observe(field, at: "\(path).\(Self.quoted(name))") }
    default: break
    }
  }

  private static func quoted(_ name: String) -> String {
    let isPlain = !name.isEmpty && !name.utf8.contains { ".\"[]".utf8.contains($0) }
    if isPlain { return name }
    return "\"" + name.unicodeScalars.map { $0 == "\"" ? "\"\"" : String($0) }.joined() + "\""
  }

  private static func type(_ value: DocumentValue) -> ObservedTypes {
    switch value {
    case .null: .null
    case .bool: .bool
    case .int: .int
    case .double(let number): number.isFinite ? .double : [.double, .irregular]
    case .decimal: .decimal
    case .string(let text): text.utf8.contains(0) ? [.string, .irregular] : .string
    case .date: isBetweenNanoseconds(value) ? [.date, .irregular] : .date
    case .data: .data
    case .url: .url
    case .array: .array
    case .object: .object
    }
  }

  /// Returns whether a date needs more than nanosecond precision, which the stored form marks with `$interval`.
  private static func isBetweenNanoseconds(_ date: DocumentValue) -> Bool {
    var writer = JSONWriter()
    writer.value(date)
    return writer.text.contains("$interval")
  }
}
