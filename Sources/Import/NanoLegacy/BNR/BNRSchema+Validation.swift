// SPDX-License-Identifier: MIT

import NanoDocument

extension BNRSchema {
  func validate() throws(StoreError) {
    let classNames = Set(classes.map { ExactName($0.name) })
    try Self.requireDistinct(classes.map(\.name), "classes")
    try Self.requireDistinct(namedBuffers.map(\.name), "namedBuffers")
    for description in classes {
      let path = "classes.\(description.name)"
      try Self.validate(
        description.fields, "\(path).fields", classNames,
        hasVersions: description.versionByte != .no)
      try Self.validateIndexes(description, "\(path).textIndexes")
    }
    for description in namedBuffers {
      try Self.validate(
        description.fields, "namedBuffers.\(description.name).fields", classNames,
        hasVersions: false)
    }
  }

  private static func requireDistinct(_ names: [String], _ path: String) throws(StoreError) {
    var seen: Set<ExactName> = []
    for name in names {
      guard !name.isEmpty else {
        throw error("A name in the schema is empty", path)
      }
      guard seen.insert(ExactName(name)).inserted else {
        throw error("The schema describes a name twice", "\(path).\(name)")
      }
    }
  }

  private static func validate(
    _ fields: [Field], _ path: String, _ classNames: Set<ExactName>, hasVersions: Bool
  ) throws(StoreError) {
    var seen: [ExactName: [(index: Int, field: Field)]] = [:]
    for (index, field) in fields.enumerated() {
      let path = "\(path)[\(index)]"
      guard !field.name.isEmpty else {
        throw error("A name in the schema is empty", "\(path).name")
      }
      if let name = field.type.className, !classNames.contains(ExactName(name)) {
        throw error(
          "A field of the schema refers to a class that is not described", "\(path).class",
          actual: name,
          hint: "describe the class; a class without fields has an empty list of fields")
      }
      try validateVersions(field, path, hasVersions)
      if let other = seen[ExactName(field.name)]?.first(where: { field.overlaps($0.field) }) {
        throw error(
          "Two fields of the schema have the same name", "\(path).name", actual: field.name,
          hint: "rename it or field \(other.index), or let their versions exclude each other")
      }
      seen[ExactName(field.name), default: []].append((index, field))
    }
  }

  private static func validateVersions(
    _ field: Field, _ path: String, _ hasVersions: Bool
  ) throws(StoreError) {
    guard field.since != nil || field.before != nil else { return }
    guard hasVersions else {
      throw error(
        "A field of the schema depends on the version of records that have none", path,
        hint: "remove 'since' and 'before', or set 'versionByte' to 'yes' or 'detect'")
    }
    if let since = field.since, let before = field.before, since >= before {
      throw error(
        "A field of the schema exists in no version", "\(path).before", actual: "\(before)",
        expected: "more than \(since)")
    }
  }

  private static func validateIndexes(
    _ description: ClassDescription, _ path: String
  ) throws(StoreError) {
    for (index, name) in description.textIndexes.enumerated() {
      let fields = description.fields.filter { $0.name.hasSameBytes(as: name) }
      guard !fields.isEmpty, fields.allSatisfy({ $0.type == .text }) else {
        throw error(
          "A text index of the schema requires a field of type text", "\(path)[\(index)]",
          actual: name)
      }
    }
  }

  static func error(
    _ message: String, _ path: String, actual: String? = nil, expected: String? = nil,
    hint: String? = nil
  ) -> StoreError {
    var error = StoreError(.invalidArgument, message, [.field: path])
    if let actual { error = error.adding(.actual, actual) }
    if let expected { error = error.adding(.expected, expected) }
    if let hint { error = error.adding(.hint, hint) }
    return error
  }
}

extension BNRSchema.Field {
  /// Returns whether records of some version have both fields.
  fileprivate func overlaps(_ other: BNRSchema.Field) -> Bool {
    let last = min(Int(before ?? 255), Int(other.before ?? 255), 256)
    let first = max(Int(since ?? 0), Int(other.since ?? 0))
    let isOpen = before == nil && other.before == nil
    return isOpen ? first <= 255 : first < last
  }
}

extension BNRSchema.FieldType {
  /// The class that the field refers to, or `nil` for other fields and references to any class.
  var className: String? {
    switch self {
    case .reference(let name), .array(let name): name
    default: nil
    }
  }
}
