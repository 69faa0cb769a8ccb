// SPDX-License-Identifier: MIT

import NanoDocument
import NanoQuery
import NanoStoreCore

/// The unsaved changes that affect the results of a query.
struct UnsavedChanges<Object: GraphObject> {
  let table: ObjectTable
  /// The new objects in insertion order, followed by the changed ones.
  let objects: [any GraphObject]
  /// The references that the next save removes from documents.
  let deleted: DeletedReferences
  /// What must be read from the store.
  let reads: UnsavedReads

  /// - Throws: ``StoreError`` if the query is invalid.
  init(_ query: ObjectQuery<Object>) throws {
    table = query.context.table(Object.self)
    let stored = try query.models.documentQuery()
    try stored.query.validate()
    objects = table.unsaved
    deleted = DeletedReferences(of: table, objects, in: stored.query)
    reads = UnsavedReads(
      query: stored, replaced: table.replacedRowIDs,
      owners: try deleted.owners(in: table))
  }
}

extension ObjectTable {
  /// The row IDs of the stored documents that the next save replaces, deletes or inserts again.
  fileprivate var replacedRowIDs: Set<Int64> {
    var ids = Set(changed.map { $0._$object.rowID })
    ids.formUnion(deleted.map { $0._$object.rowID })
    ids.formUnion(inserted.map { $0._$object.rowID }.filter { $0 > 0 })
    // A suspended save may have stored them already.
    if let suspended = context.suspendedSave { ids.formUnion(suspended.newRowIDs(of: self)) }
    return ids
  }
}

extension ObjectContext {
  /// Returns whether the results of a query for a class can differ from stored documents.
  ///
  /// - Throws: The errors of inserting the objects that relationships reach.
  func affectsResults(of table: ObjectTable) throws -> Bool {
    // Only relationships without an inverse reach objects that are not inserted yet.
    if allTables.contains(where: { $0.hasUnlinkedTargets && $0.counts.hasContent }) {
      try insertReachable()
    }
    return !table.counts.isEmpty || (hasPendingDeletions && !table.relationships.isEmpty)
  }
}

extension PendingCounts {
  /// Whether there are new or changed objects.
  var hasContent: Bool { inserted > 0 || changed > 0 }
}

/// The reads of a query that considers unsaved changes, which can run on any thread.
struct UnsavedReads: Sendable {
  let query: DocumentQuery
  /// The rows that unsaved objects replace.
  let replaced: Set<Int64>
  /// Queries for the stored documents that refer to deleted objects.
  let owners: [DocumentQuery]

  /// Reads what is needed to evaluate documents in memory.
  func inputs() throws -> UnsavedInputs {
    let name = query.collection.name
    let (defaults, known) = try query.collection.store.reading(.snapshot) { reader in
      // Related objects are evaluated as saved.
      (try reader.settings(of: name).defaults, try reader.readingRelated(query.query))
    }
    var found: [Int64: Document] = [:]
    for query in owners {
      for document in try query.fetch() {
        guard let id = document.rowID, !replaced.contains(id) else { continue }
        found[id] = document
      }
    }
    return UnsavedInputs(
      defaults: FieldDefaults(defaults), query: known, owners: found,
      omitted: replaced.union(found.keys))
  }

  /// The query for stored documents, with enough results to omit some of them.
  func stored(omitting count: Int) -> DocumentQuery {
    guard let limit = query.query.limit else { return query.limit(nil, offset: 0) }
    let (end, isHuge) = limit.addingReportingOverflow(query.query.offset)
    let (enough, isHugeWithOthers) = end.addingReportingOverflow(count)
    return query.limit(isHuge || isHugeWithOthers ? nil : enough, offset: 0)
  }

  /// Returns the number of stored results, without the omitted documents.
  func count(_ inputs: UnsavedInputs) throws -> Int {
    var count = try stored(omitting: inputs.omitted.count).count()
    let ids = inputs.omitted.sorted()
    for start in stride(from: 0, to: ids.count, by: Self.idsPerQuery) {
      let some = ids[start..<min(start + Self.idsPerQuery, ids.count)]
      count -= try query.limit(nil, offset: 0)
        .where(.membership(.attribute(.rowID), some.map { .value(.int($0)) })).count()
    }
    return count
  }

  /// Arbitrary: keeps statements short.
  static let idsPerQuery = 500

  /// Returns whether the results of these reads can be merged with later changes.
  func covers(_ later: UnsavedReads, isCount: Bool) -> Bool {
    guard owners.map(\.query) == later.owners.map(\.query) else { return false }
    if isCount || !owners.isEmpty { return replaced == later.replaced }
    return query.query.limit == nil || later.replaced.count <= replaced.count
  }
}

/// What a query needs to evaluate documents in memory.
struct UnsavedInputs: Sendable {
  /// The collection's values for missing fields.
  let defaults: FieldDefaults?
  /// The query with the values of related documents.
  let query: Query
  /// The stored documents of unchanged objects that refer to deleted objects, by row ID.
  let owners: [Int64: Document]
  /// The rows that are evaluated in memory instead of in the store.
  let omitted: Set<Int64>
}

/// References to deleted objects, in relationships that a query uses. The next save removes them.
struct DeletedReferences {
  private let relationships: [StoredRelationship]
  private var targets: Set<AnyObjectID> = []
  private var stored: [(table: ObjectTable, ids: [Int64])] = []

  init(of table: ObjectTable, _ objects: [any GraphObject], in query: Query) {
    let context = table.context
    guard context.mayContainDeleted else {
      relationships = []
      return
    }
    relationships = table.relationships.filter { query.uses($0.name) }
    guard !relationships.isEmpty else { return }
    for other in context.allTables {
      let ids = other.deleted.map { $0._$object.rowID }
      if !ids.isEmpty { stored.append((other, ids)) }
      let new = other.inserted.filter { $0._$object.isDeleted }.map { $0._$object.rowID }
      for id in ids + new {
        targets.insert(AnyObjectID(collection: other.documents.name, rowID: id))
      }
    }
    for object in objects {
      for relationship in relationships {
        relationship.forEachResolved(of: object) { target in
          guard target._$object.isDeleted else { return }
          targets.insert(
            AnyObjectID(
              collection: type(of: target).collectionName, rowID: target._$object.rowID))
        }
      }
    }
  }

  var isEmpty: Bool { targets.isEmpty }

  /// Returns queries for the stored documents that refer to deleted objects.
  func owners(in owners: ObjectTable) throws -> [DocumentQuery] {
    var queries: [DocumentQuery] = []
    for relationship in relationships {
      let former = try owners.observedFormerNames(of: relationship)
      for (table, ids) in stored
      where relationship.target == nil || relationship.target == table.type {
        for start in stride(from: 0, to: ids.count, by: UnsavedReads.idsPerQuery) {
          let some = Array(ids[start..<min(start + UnsavedReads.idsPerQuery, ids.count)])
          queries.append(
            owners.documents.find(
              relationship.condition(for: some, in: table, formerNames: former)
            ).withoutFieldCheck)
        }
      }
    }
    return queries
  }

  /// Removes the references from the fields of a document.
  func remove(from fields: inout DocumentObject) {
    for relationship in relationships {
      for name in [relationship.name] + relationship.formerNames {
        guard let value = fields[name] else { continue }
        if !relationship.isToMany {
          if isDeleted(value, relationship) { fields[name] = nil }
        } else if let values = value.array {
          fields[name] = .array(values.filter { !isDeleted($0, relationship) })
        }
      }
    }
  }

  private func isDeleted(_ value: DocumentValue, _ relationship: StoredRelationship) -> Bool {
    let collection = relationship.target?.collectionName ?? value.object?["collection"]?.string
    let id = relationship.target == nil ? value.object?["id"]?.int64 : value.int64
    guard let collection, let id else { return false }
    return targets.contains(AnyObjectID(collection: collection, rowID: id))
  }
}

extension Query {
  /// Returns whether the condition or the order depends on a top-level field.
  fileprivate func uses(_ field: String) -> Bool {
    let conditions = [condition] + orderings.map { Condition.truth($0.expression) }
    return conditions.contains { condition in
      condition.hasLeafConditions
        || condition.fields.contains { $0.components.first?.hasSameBytes(as: field) ?? true }
    }
  }
}
