// SPDX-License-Identifier: MIT

import NanoDocument

/// What the columns of a table become: the key and fields of documents.
struct TableColumns {
  /// The position of the column that contains the key.
  private(set) var key: Int?
  /// The path of each column; nil for one that is not a field.
  let paths: [FieldPath?]
  let tree: ColumnTree
  var count: Int { paths.count }

  /// The name of a column with the keys of documents, which is no field. In quotes, it is a field.
  static let keyName = "__key__"
  /// Names that denote metadata elsewhere, but that no table restores.
  static let reservedNames = ["__rowid__", "__type__", "__version__", "__added__"]

  /// - Parameter keyField: The field that contains the key; nil if there is none.
  /// - Throws: ``StoreError/Code/invalidCSV`` for names that do not denote different fields,
  ///   ``StoreError/Code/invalidPath``, ``StoreError/Code/invalidArgument`` if no column has the
  ///   path of the key.
  init(_ names: [String], keyField: FieldPath?) throws(StoreError) {
    var keys: [Int] = []
    for (column, name) in names.enumerated() {
      if name.hasSameBytes(as: Self.keyName) { keys.append(column) }
      guard !Self.reservedNames.containsExactly(name) else {
        throw StoreError(
          .invalidCSV, "A column has the name of metadata that an import does not restore",
          [.field: name, .hint: "remove it, or write the name in quotes for a field of this name"])
      }
    }
    guard keys.count <= 1 else {
      throw StoreError(.invalidCSV, "Two columns have the same name", [.field: Self.keyName])
    }
    key = keys.first
    paths = names.enumerated().map { $0.offset == keys.first ? nil : FieldPath($0.element) }
    tree = try ColumnTree(paths)
    if let keyField, !(key != nil && keyField == FieldPath(Self.keyName)) {
      key = try Self.position(of: keyField, in: paths, "The key field is not a column")
    }
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` with the message if no column has the path.
  static func position(
    of path: FieldPath, in paths: [FieldPath?], _ message: String
  ) throws(StoreError) -> Int {
    guard let position = paths.firstIndex(of: path) else {
      throw StoreError(.invalidArgument, message, [.field: path.description])
    }
    return position
  }

  static let missingKey = StoreError(.invalidKey, "The key field is missing")
}
