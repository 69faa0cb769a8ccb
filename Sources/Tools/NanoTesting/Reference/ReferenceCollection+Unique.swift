// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension ReferenceCollection {
  /// - Throws: ``StoreError/Code/uniqueViolation`` with the index and the document in the way.
  func checkUnique(_ document: ReferenceDocument) throws(StoreError) {
    guard let (index, holder) = try violation(by: document) else { return }
    let error = StoreError(
      .uniqueViolation, "A unique index has this value already",
      [
        .collection: description.name, .index: index.name, .rowID: "\(holder.rowID)",
      ])
    throw holder.key.map { error.adding(.key, $0.description) } ?? error
  }

  /// The unique index that a document would violate, and another document that has its value.
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
  /// What the index holds for a document: a row of values, one of them null, is not compared.
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

  /// The value of a field as it stands: no array is entered on the way.
  private static func field(_ path: FieldPath, of value: DocumentValue) -> DocumentValue {
    var value = value
    for name in path.components {
      guard let field = value.object?[name] else { return .null }
      value = field
    }
    return value
  }
}
