// SPDX-License-Identifier: MIT

import NanoStore

/// Several fields in one argument.
enum FieldList {
  /// Cuts at commas outside of double quotes, which stand around names as in paths.
  static func split(_ text: String) -> [String] {
    var fields: [String] = []
    var field = ""
    var isQuoted = false
    for character in text {
      if character == "\"" { isQuoted.toggle() }
      if character == ",", !isQuoted {
        fields.append(field)
        field = ""
      } else {
        field.append(character)
      }
    }
    return fields + [field]
  }
}

/// The names of fields in the order in which they were seen first.
struct FieldNames {
  private(set) var names: [String] = []
  private var seen: Set<String> = []

  mutating func add(_ object: DocumentObject) {
    for (name, _) in object where seen.insert(name).inserted { names.append(name) }
  }
}

extension ShownField {
  var path: FieldPath? {
    switch self {
    case .path(_, let path): path
    case .attribute: nil
    }
  }

  /// What a document has there: the value itself, or those of the elements of a list on the way.
  func value(in document: Document) -> DocumentValue? {
    switch self {
    case .path(_, let path):
      // A document answers with its row id where the path is `"__rowid__"`, and here the field is meant.
      if path.components != [DocumentObject.rowIDName], let value = document[path] { return value }
      guard path.components.count > 1 || path.components == [DocumentObject.rowIDName],
        let object = try? document.object()
      else { return nil }
      if path.components.count == 1 { return object[path.components[0]] }
      let values = PathValues.values(in: .object(object), at: path)
      return values.isEmpty ? nil : .array(values)
    case .attribute(_, let attribute):
      switch attribute {
      case .key: return document.key.map { .string($0) }
      case .rowID: return document.rowID.map { .int($0) }
      case .type: return document.type.map { .string($0) }
      case .version: return document.version.map { .int($0) }
      case .added: return document.added.map { .date($0) }
      case .leafPath: return nil
      }
    }
  }
}
