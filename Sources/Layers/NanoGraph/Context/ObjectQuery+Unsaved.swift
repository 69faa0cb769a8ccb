// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoModel
import NanoQuery
import NanoStoreCore

/// A result of a query that considers unsaved changes.
enum MergedResult<Stored, Object: GraphObject> {
  case stored(Stored)
  case unsaved(UnsavedMatch<Object>.Content)
}

/// Merging the results that the store finds with unsaved changes.
extension ObjectQuery {
  /// Returns whether unsaved changes can affect the results. Pages and full-text searches use
  /// stored values.
  @usableFromInline
  func considersUnsavedChanges() throws -> Bool {
    guard try context.affectsResults(of: context.table(Object.self)) else { return false }
    let query = try models.documentQuery().query
    return query.after == nil && !query.isRanked && !query.condition.searches
  }

  @usableFromInline
  func eachMerged(_ body: (Object) throws -> Bool) throws {
    let table = context.table(Object.self)
    try eachMergedResult { result in
      let object: Object
      switch result {
      case .stored(let stored): object = try table.materialize(stored, as: Object.self)
      case .unsaved(let content):
        guard let found = try self.object(content) else { return true }
        object = found
      }
      return object._$object.isDeleted ? true : try body(object)
    }
  }

  /// Passes the results to a closure in order, from one snapshot of the store.
  func eachMergedResult(
    _ body: (MergedResult<StoredDocument, Object>) throws -> Bool
  ) throws {
    let changes = try UnsavedChanges(self)
    context.noteReading()
    try context.store.read {
      let inputs = try changes.reads.inputs()
      var merge = try UnsavedMerge<StoredDocument, Object>(changes, inputs)
      try changes.reads.stored(omitting: inputs.omitted.count).visitStored {
        try merge.add($0, $0, body)
      }
      try merge.finish(body)
    }
  }

  func object(_ content: UnsavedMatch<Object>.Content) throws -> Object? {
    switch content {
    case .object(let object): object._$object.isDeleted ? nil : object
    case .document(let document): try object(document)
    }
  }

  /// Returns the row ID of a result; nil for a new object.
  func rowID(_ content: UnsavedMatch<Object>.Content) -> Int64? {
    switch content {
    case .document(let document): document.rowID
    case .object(let object): object._$object.rowID > 0 ? object._$object.rowID : nil
    }
  }

  /// Returns the result as an object whose content need not be loaded.
  func fault(_ content: UnsavedMatch<Object>.Content) throws -> Object? {
    if case .object(let object) = content { return object._$object.isDeleted ? nil : object }
    return try rowID(content).flatMap { try fault($0) }
  }

  private func fault(_ id: Int64) throws -> Object? {
    let object = try context.table(Object.self).existingObject(id, as: Object.self)
    return object._$object.isDeleted ? nil : object
  }

  func mergedFaults() throws -> [Object] {
    var faults: [Object] = []
    try eachMergedResult { result in
      switch result {
      case .stored(let stored): if let object = try fault(stored.rowID) { faults.append(object) }
      case .unsaved(let content): if let object = try fault(content) { faults.append(object) }
      }
      return true
    }
    return faults
  }

  func mergedIDs() throws -> [ObjectID<Object>] {
    var ids: [ObjectID<Object>] = []
    try eachMergedResult { result in
      switch result {
      case .stored(let stored): ids.append(ObjectID(rowID: stored.rowID))
      case .unsaved(let content): if let id = rowID(content) { ids.append(ObjectID(rowID: id)) }
      }
      return true
    }
    return ids
  }

  func mergedCount() throws -> Int {
    let changes = try UnsavedChanges(self)
    return try context.store.read {
      let inputs = try changes.reads.inputs()
      return try changes.count(inputs, stored: try changes.reads.count(inputs))
    }
  }
}

extension UnsavedChanges {
  /// Returns the number of results.
  ///
  /// - Parameter stored: The number of stored results without the omitted documents.
  func count(_ inputs: UnsavedInputs, stored: Int) throws -> Int {
    let query = reads.query.query
    let unsaved = try UnsavedMatcher(self, inputs).matches(inputs).count
    let count = max(0, stored + unsaved - query.offset)
    return query.limit.map { min($0, count) } ?? count
  }
}

/// A merge of stored results, which are added in order, with results in memory.
struct UnsavedMerge<Stored, Object: GraphObject> {
  private let matcher: UnsavedMatcher<Object>
  private let omitted: Set<Int64>
  private var pending: ArraySlice<UnsavedMatch<Object>>
  private var skipped: Int
  private var remaining: Int?
  private var isDone = false

  init(_ changes: UnsavedChanges<Object>, _ inputs: UnsavedInputs) throws {
    matcher = try UnsavedMatcher(changes, inputs)
    pending = try matcher.matches(inputs)[...]
    omitted = changes.reads.replaced.union(inputs.owners.keys)
    skipped = changes.reads.query.query.offset
    remaining = changes.reads.query.query.limit
  }

  /// Passes the results before a stored document and the document itself to a closure, within
  /// offset and limit.
  ///
  /// - Returns: False if there are no further results, because of the limit or because the closure
  ///   returned false.
  mutating func add(
    _ stored: Stored, _ document: StoredDocument,
    _ body: (MergedResult<Stored, Object>) throws -> Bool
  ) throws -> Bool {
    guard !isDone, !omitted.contains(document.rowID) else { return !isDone }
    if !pending.isEmpty {
      let position = try matcher.position(of: document)
      while let next = pending.first, next.position < position {
        pending.removeFirst()
        guard try pass(.unsaved(next.content), body) else { return false }
      }
    }
    return try pass(.stored(stored), body)
  }

  /// Passes the results after all stored documents to a closure.
  mutating func finish(_ body: (MergedResult<Stored, Object>) throws -> Bool) throws {
    while !isDone, let next = pending.popFirst() { _ = try pass(.unsaved(next.content), body) }
  }

  private mutating func pass(
    _ result: MergedResult<Stored, Object>, _ body: (MergedResult<Stored, Object>) throws -> Bool
  ) throws -> Bool {
    if skipped > 0 {
      skipped -= 1
      return true
    }
    if let remaining {
      isDone = remaining == 0
      guard !isDone else { return false }
      self.remaining = remaining - 1
    }
    isDone = try !body(result)
    return !isDone
  }
}
