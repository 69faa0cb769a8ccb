// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
package import NanoQuery

/// A write that can run on any engine, so that the outcomes can be compared.
package enum Operation: Sendable, Hashable {
  case insert(GeneratedDocument)
  case save(GeneratedDocument)
  case replace(Identity, GeneratedDocument)
  case delete(Identity)
  case deleteMatching(Query)
  case createIndex(IndexDefinition)
  case dropIndex(String)
  case setIndexing(IndexingPolicy)
  /// Sets the values that queries use for missing fields.
  case setDefaults(DocumentObject)
  case rebuildIndexes
  /// Runs the operations in a savepoint and rolls it back. If the first ones are insertions, undoes them as those of a
  /// batch.
  indirect case rolledBack([Operation])

  /// The outcome of an operation, on which engines must agree.
  package enum Outcome: Sendable, Hashable {
    case rowID(Int64)
    case count(Int)
    case done
    case failed(StoreError.Code)
    case rolledBack([Outcome])

    /// Returns whether two outcomes are equivalent.
    ///
    /// If both a key and a unique value are duplicates, an engine may report either.
    func agrees(with other: Outcome) -> Bool {
      let refusals: [Outcome] = [.failed(.duplicateKey), .failed(.uniqueViolation)]
      if refusals.contains(self) { return refusals.contains(other) }
      guard case .rolledBack(let outcomes) = self, case .rolledBack(let others) = other else {
        return self == other
      }
      return outcomes.elementsEqual(others) { $0.agrees(with: $1) }
    }
  }

  private struct Rollback: Error {}

  /// Runs the operation; a ``StoreError`` is returned as an outcome.
  ///
  /// - Parameter then: Called after the operation, and after each one that it consists of.
  package func apply(
    to writer: any EngineWriter, _ collection: String, then: () throws -> Void = {}
  ) throws -> Outcome {
    let outcome = try run(writer, collection, then)
    try then()
    return outcome
  }

  private func run(
    _ writer: any EngineWriter, _ collection: String, _ then: () throws -> Void
  ) throws -> Outcome {
    do {
      switch self {
      case .insert(let document):
        return .rowID(try document.new { try writer.insert($0, into: collection) })
      case .save(let document):
        return .rowID(try document.new { try writer.save($0, into: collection) })
      case .replace(let identity, let document):
        let found = try document.new { try writer.replace(identity, with: $0, in: collection) }
        return .count(found ? 1 : 0)
      case .delete(let identity):
        return .count(try writer.delete(identity, from: collection) ? 1 : 0)
      case .deleteMatching(let query): return .count(try writer.delete(query, from: collection))
      case .createIndex(let index):
        try writer.createIndex(index, in: collection)
        return .done
      case .dropIndex(let name): return .count(try writer.dropIndex(name, in: collection) ? 1 : 0)
      case .setDefaults(let defaults):
        try writer.setSettings(CollectionSettings(defaults: defaults), of: collection)
        return .done
      case .setIndexing(let policy):
        try writer.setIndexing(policy, in: collection, nil)
        return .done
      case .rebuildIndexes:
        try writer.rebuildIndexes(in: collection, nil)
        return .done
      case .rolledBack(let operations):
        return try runAndRollBack(operations, writer, collection, then)
      }
    } catch let error as StoreError {
      return .failed(error.code)
    }
  }

  private func runAndRollBack(
    _ operations: [Operation], _ writer: any EngineWriter, _ collection: String,
    _ then: () throws -> Void
  ) throws -> Outcome {
    var outcomes: [Outcome] = []
    func run(_ operations: some Sequence<Operation>) throws {
      for operation in operations {
        outcomes.append(try operation.apply(to: writer, collection, then: then))
      }
    }
    let insertions = operations.prefix { if case .insert = $0 { true } else { false } }
    do {
      if insertions.isEmpty {
        try writer.savepoint {
          try run(operations)
          throw Rollback()
        }
      } else {
        // The number decides whether SQLite's engine uses a savepoint.
        try writer.insertAtomically(1_000, into: collection) {
          try run(insertions)
          try writer.prepareForOtherUse()
          try run(operations.dropFirst(insertions.count))
          throw Rollback()
        }
      }
    } catch is Rollback {}
    return .rolledBack(outcomes)
  }
}

extension Operation {
  /// Returns the operations that an engine with the given capabilities supports.
  static func supported(_ operations: [Operation], _ capabilities: Capabilities) -> [Operation] {
    operations.compactMap { operation in
      switch operation {
      case .setIndexing(.everything) where !capabilities.contains(.everythingIndex): nil
      case .rolledBack(let operations): .rolledBack(supported(operations, capabilities))
      default: operation
      }
    }
  }
}

extension GeneratedDocument {
  /// Passes the document in stored form to a closure; it is valid only during the call.
  package func new<Result>(_ work: (NewDocument) throws -> Result) throws -> Result {
    var writer = JSONWriter()
    writer.object(object)
    if let failure = writer.failure { throw failure }
    return try work(
      NewDocument(key: key, type: type, version: version, added: added, body: writer.bytes))
  }
}
