// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoModel
import NanoQuery
import NanoStoreCore

/// A result that is evaluated in memory: an unsaved object, or a stored document that the next save
/// removes references from.
struct UnsavedMatch<Object: GraphObject> {
  enum Content {
    case object(Object)
    case document(Document)
  }
  let content: Content
  let position: ResultPosition
}

/// The position of a result in the order of a query.
struct ResultPosition {
  /// The sort keys, and whether each is descending.
  var keys: [(bytes: [UInt8], descending: Bool)]
  /// The largest number for new objects, which the next save stores after all others.
  var rowID: Int64
  /// The position among new objects.
  var number = 0

  static func < (a: ResultPosition, b: ResultPosition) -> Bool {
    for (a, b) in zip(a.keys, b.keys) where a.bytes != b.bytes {
      return a.bytes.lexicographicallyPrecedes(b.bytes) != a.descending
    }
    return (a.rowID, a.number) < (b.rowID, b.number)
  }
}

/// Evaluates documents in memory as engines evaluate stored ones.
struct UnsavedMatcher<Object: GraphObject> {
  private let changes: UnsavedChanges<Object>
  private let condition: ConditionMatcher
  private let orderings: [(program: CompiledOrdering, descending: Bool)]
  private let usesStoredAttributes: Bool
  private let now = Date()

  init(_ changes: UnsavedChanges<Object>, _ inputs: UnsavedInputs) throws {
    self.changes = changes
    let query = inputs.query
    condition = try ConditionMatcher(query.condition, defaults: inputs.defaults)
    orderings = query.orderings.map {
      (CompiledOrdering($0, defaults: inputs.defaults), $0.descending)
    }
    usesStoredAttributes = query.usesStoredAttributes
  }

  /// Returns the results among unsaved objects and documents with references to deleted objects, in
  /// order.
  func matches(_ inputs: UnsavedInputs) throws -> [UnsavedMatch<Object>] {
    var matches: [UnsavedMatch<Object>] = []
    var writer = JSONWriter(capacity: 512)
    for (number, object) in changes.objects.enumerated() {
      try encode(object, number, &writer)
      defer { writer.removeAll() }
      let attributes = try attributes(of: object)
      guard try condition.holds(for: writer.bytes, attributes) else { continue }
      let id = object._$object.rowID
      matches.append(
        UnsavedMatch(
          content: .object(ObjectTable.downcast(object)),
          position: ResultPosition(
            keys: try keys(writer.bytes, attributes), rowID: id > 0 ? id : .max, number: number)))
    }
    for (id, document) in inputs.owners {
      if let position = try position(of: document, id, &writer) {
        matches.append(UnsavedMatch(content: .document(document), position: position))
      }
    }
    matches.sort { $0.position < $1.position }
    return matches
  }

  /// Returns the position of a stored result.
  func position(of stored: StoredDocument) throws -> ResultPosition {
    ResultPosition(
      keys: try keys(stored.body) { stored.value(of: $0) }, rowID: stored.rowID)
  }

  private func keys(
    _ body: UnsafeRawBufferPointer, _ attributes: (Attribute) -> DocumentValue
  ) throws -> [(bytes: [UInt8], descending: Bool)] {
    try orderings.map { ordering in
      (SortKey.bytes(try ordering.program.value(body, attributes)), ordering.descending)
    }
  }

  /// Returns the position of a document after the removal of references, or nil if it is no result.
  private func position(
    of document: Document, _ id: Int64, _ writer: inout JSONWriter
  ) throws -> ResultPosition? {
    var fields = try document.object()
    changes.deleted.remove(from: &fields)
    writer.object(fields)
    defer { writer.removeAll() }
    return try document.withStored { stored in
      guard try condition.holds(for: writer.bytes, { stored.value(of: $0) }) else { return nil }
      return ResultPosition(
        keys: try keys(writer.bytes) { stored.value(of: $0) }, rowID: id)
    }
  }

  /// Writes the document that the next save stores for an object. References to new objects are
  /// their negative numbers, which conditions on these objects contain too.
  private func encode(
    _ object: any GraphObject, _ number: Int, _ writer: inout JSONWriter
  ) throws {
    do {
      guard !object._$object.flags.contains(.failed) else {
        throw StoreError(
          .invalidArgument, "An object was changed although its content could not be loaded",
          [.hint: "roll back the context, and load the object again"])
      }
      object.writeDocument(to: &writer)
      if let failure = writer.failure { try encodeWithNumbers(object, failure, &writer) }
      if !changes.deleted.isEmpty { try rewrite(&writer) { changes.deleted.remove(from: &$0) } }
    } catch let error as StoreError {
      writer.removeAll()
      let id = object._$object.rowID
      throw error.adding(.collection, changes.table.documents.name)
        .adding(
          id > 0 ? .rowID : .position, id > 0 ? "\(id)" : "new object \(number + 1) of the class")
    }
  }

  /// A document cannot refer to objects that are not stored. A snapshot can, and differs from a
  /// document only in that the key is a field.
  private func encodeWithNumbers(
    _ object: any GraphObject, _ failure: StoreError, _ writer: inout JSONWriter
  ) throws {
    var areInserted = true
    for relationship in changes.table.relationships {
      relationship.forEachResolved(of: object) {
        if $0._$object.rowID == 0 { areInserted = false }
      }
    }
    // A snapshot would omit the others.
    guard areInserted else { throw failure }
    writer.removeAll()
    object._$writeSnapshot(to: &writer)
    if let failure = writer.failure { throw failure }
    guard let key = Object.modelFields.first(where: { $0.traits.contains(.key) }) else { return }
    try rewrite(&writer) { $0[key.name] = nil }
  }

  private func rewrite(
    _ writer: inout JSONWriter, _ change: (inout DocumentObject) -> Void
  ) throws {
    var reader = JSONReader(writer.bytes)
    var fields = try reader.object()
    change(&fields)
    writer.removeAll()
    writer.object(fields)
    if let failure = writer.failure { throw failure }
  }

  /// Returns the attributes that the object's document has after the next save, as far as they are
  /// known.
  private func attributes(of object: any GraphObject) throws -> (Attribute) -> DocumentValue {
    let id = object._$object.rowID
    let key = try object.documentKey.map { DocumentValue.string($0.description) }
    let version = object.storedVersion.map { DocumentValue.int($0) } ?? .null
    var stored: [Attribute: DocumentValue] = [:]
    if usesStoredAttributes, id > 0 {
      try changes.table.documents.visit(rowID: id) { document in
        for attribute in [Attribute.key, .type, .added] {
          stored[attribute] = document.value(of: attribute)
        }
      }
    }
    return { [now] attribute in
      switch attribute {
      case .key: key ?? stored[.key] ?? .null
      // A new object receives a larger row ID than all stored ones.
      case .rowID: .int(id > 0 ? id : .max)
      case .type: stored[.type] ?? .null
      case .version: version
      case .added: stored[.added] ?? .date(now)
      case .leafPath: .null
      }
    }
  }
}

extension Query {
  /// Whether the query uses attributes that only the stored document has.
  fileprivate var usesStoredAttributes: Bool {
    var isUsed = false
    for condition in [condition] + orderings.map({ Condition.truth($0.expression) }) {
      _ = condition.replacingExpressions { expression -> QueryExpression? in
        if case .attribute(let attribute) = expression {
          isUsed = isUsed || attribute == .key || attribute == .type || attribute == .added
        }
        return nil
      }
    }
    return isUsed
  }
}

extension Document {
  /// Passes a document that was read from a store to a closure as engines do.
  func withStored<Result>(_ body: (StoredDocument) throws -> Result) throws -> Result {
    let header = header
    guard let rowID = header.rowID else {
      throw StoreError(.corruptDocument, "A stored document has no row ID")
    }
    return try withBytes { bytes in
      try DocumentKey.withBorrowed(header.key) { key in
        var type = header.type
        guard type != nil else {
          return try body(
            StoredDocument(
              rowID: rowID, key: key, type: nil, version: header.version, added: header.added,
              revision: header.revision, body: bytes))
        }
        return try type!.withUTF8 { type in
          try body(
            StoredDocument(
              rowID: rowID, key: key, type: UnsafeRawBufferPointer(type), version: header.version,
              added: header.added, revision: header.revision, body: bytes))
        }
      }
    }
  }
}
