// SPDX-License-Identifier: MIT

import NanoDocument

/// The row IDs of the objects that a context has deleted and not saved.
struct DeletedIDs {
  private let ids: [(type: any GraphObject.Type, ids: Set<Int64>)]

  init(_ tables: [ObjectTable], where isIncluded: (any GraphObject) -> Bool = { _ in true }) {
    ids = tables.compactMap { table in
      let ids = table.deleted.filter(isIncluded).map { $0._$object.rowID }
      return ids.isEmpty ? nil : (table.type, Set(ids))
    }
  }

  var isEmpty: Bool { ids.isEmpty }

  /// Whether one of them can be a target of the relationship.
  func canBeTargets(of relationship: StoredRelationship) -> Bool {
    ids.contains { relationship.target == nil || relationship.target == $0.type }
  }

  /// Whether an owner refers to one of them by a row ID that is not resolved to an object.
  func isReferred(to relationship: StoredRelationship, of owner: any GraphObject) -> Bool {
    guard let target = relationship.target else {
      return relationship.unresolvedReferences(owner).contains { contain($0.id, $0.collection) }
    }
    guard let found = ids.first(where: { $0.type == target }) else { return false }
    return relationship.unresolvedIDs(owner).contains { found.ids.contains($0) }
  }

  /// Whether a document's value of a relationship refers to one of them.
  func contain(_ value: DocumentValue, of relationship: StoredRelationship) -> Bool {
    let collection =
      relationship.target?.collectionName ?? value.object?["collection"]?.string
    let id = relationship.target == nil ? value.object?["id"]?.int64 : value.int64
    guard let collection, let id else { return false }
    return contain(id, collection)
  }

  private func contain(_ id: Int64, _ collection: String) -> Bool {
    ids.contains { $0.type.collectionName.hasSameBytes(as: collection) && $0.ids.contains(id) }
  }

  /// Returns the fields of a document without references to them; nil if there are none.
  func removed(from fields: DocumentObject, _ table: ObjectTable) -> DocumentObject? {
    var result = fields
    var isChanged = false
    for relationship in table.relationships where canBeTargets(of: relationship) {
      for name in [relationship.name] + relationship.formerNames {
        guard let value = fields[name] else { continue }
        if let values = value.array, relationship.isToMany {
          let kept = values.filter { !contain($0, of: relationship) }
          guard kept.count < values.count else { continue }
          result[name] = .array(kept)
          isChanged = true
        } else if contain(value, of: relationship) {
          result[name] = nil
          isChanged = true
        }
      }
    }
    return isChanged ? result : nil
  }
}
