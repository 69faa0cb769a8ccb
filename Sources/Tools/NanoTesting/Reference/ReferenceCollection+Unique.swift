// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension ReferenceCollection {
  /// Checks the unique indexes of the collection.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` with the index and the conflicting document.
  func checkUnique(_ document: ReferenceDocument) throws(StoreError) {
    guard let (index, holder) = try violation(by: document) else { return }
    throw StoreError.uniqueViolation(
      of: index.name, in: description.name, by: (holder.rowID, holder.key?.description))
  }

  /// Returns the unique index that a document violates and the conflicting document, or nil if there is none.
  func violation(
    by document: ReferenceDocument
  ) throws(StoreError) -> (IndexDefinition, ReferenceDocument)? {
    for index in indexes where index.isUnique {
      let entries = index.entries(of: document.object)
      for other in documents where other.rowID != document.rowID {
        for entry in index.entries(of: other.object)
        where entries.contains(where: { Self.isEqual($0, entry) }) { return (index, other) }
      }
    }
    return nil
  }

  private static func isEqual(_ a: [DocumentValue], _ b: [DocumentValue]) -> Bool {
    zip(a, b).allSatisfy { ValueOrder.compare($0, $1) == 0 }
  }
}

extension IndexDefinition {
  /// Returns the index entries of a document; a row that contains null is excluded, because it never conflicts.
  fileprivate func entries(of object: DocumentObject) -> [[DocumentValue]] {
    switch kind {
    case .fields:
      let row = columns.map { Self.field($0.path, of: .object(object)) }
      return row.contains(.null) ? [] : [row]
    case .elements:
      return PathValues.values(in: .object(object), at: columns[0].path)
        .filter { !$0.isNull && Aggregation.counts($0) }.map { [$0] }
    }
  }

  /// Returns the value of a field, without traversing arrays.
  private static func field(_ path: FieldPath, of value: DocumentValue) -> DocumentValue {
    var value = value
    for name in path.components {
      guard let field = value.object?[name] else { return .null }
      value = field
    }
    return value
  }
}
