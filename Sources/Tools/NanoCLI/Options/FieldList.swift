// SPDX-License-Identifier: MIT

import NanoStore

/// Several fields in one argument.
enum FieldList {
  /// Cuts at commas outside of double quotes, which stand around names as in paths.
  static func split(_ text: String) -> [String] {
    var fields: [String] = []
    var field = String.UnicodeScalarView()
    var isQuoted = false
    // By scalars: a mark at the beginning of a name makes another character of the comma before it.
    for scalar in text.unicodeScalars {
      if scalar == "\"" { isQuoted.toggle() }
      if scalar == ",", !isQuoted {
        fields.append(String(field))
        field = String.UnicodeScalarView()
      } else {
        field.append(scalar)
      }
    }
    return fields + [String(field)]
  }
}

/// The names of fields in the order in which they were seen first.
struct FieldNames {
  private(set) var names: [String] = []
  private var places: [ExactName: Int] = [:]

  init() {}

  /// Of two columns with one name the first has the fields of that name.
  init(_ names: [String]) {
    self.names = names
    places = Dictionary(
      names.enumerated().map { (ExactName($1), $0) }, uniquingKeysWith: { first, _ in first })
  }

  mutating func add(_ object: DocumentObject) {
    for (number, field) in object.enumerated() where place(of: field.name, expected: number) == nil
    {
      places[ExactName(field.name)] = names.count
      names.append(field.name)
    }
  }

  /// The position of a name; nil if it was not seen.
  ///
  /// - Parameter expected: Its likely position, as in documents like those before it.
  func place(of name: String, expected: Int) -> Int? {
    if expected < names.count, names[expected].isSame(as: name) { return expected }
    return places[ExactName(name)]
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
