// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoQuery

/// Conditions on related documents that an engine does not join itself: their values are read first, from the same
/// snapshot, and the condition becomes one on a set of values.
extension EngineDocumentReader where Self: EngineCatalogReader {
  /// Returns the query with the values of related documents, where they have not been read.
  ///
  /// - Throws: The errors of ``EngineDocumentReader/find(_:in:_:)`` for the related documents.
  package func readingRelated(_ query: Query) throws -> Query {
    guard query.hasRelated else { return query }
    return try query.replacingRelated { try .related(readingRelated($0)) }
  }

  /// Returns the condition with the values of related documents, where they have not been read.
  package func readingRelated(_ condition: Condition) throws -> Condition {
    guard condition.hasUnreadRelated else { return condition }
    return try condition.replacingRelated { try .related(readingRelated($0)) }
  }

  /// Returns the condition with the values of the related documents.
  package func readingRelated(_ related: RelatedCondition) throws -> RelatedCondition {
    guard related.matches == nil else { return related }
    var related = related
    let collector = RelatedCollector(
      related, defaults: FieldDefaults(try settings(of: related.collection).defaults))
    try findInAnyOrder(related.relatedQuery, in: related.collection) { stored in
      try collector.add(stored.body, rowID: stored.rowID) { stored.value(of: $0) }
      return true
    }
    related.matches = collector.matches
    return related
  }
}

extension RelatedCondition {
  /// The query for the related documents, with the fields that relate them.
  package var relatedQuery: Query {
    var query = Query(condition)
    let remote = Condition.truth(self.remote)
    if remote.fields.isEmpty, !remote.hasLeafConditions { query.fields = [] }
    return query
  }
}

extension Explanation {
  /// Adds the access to related documents whose values are read before the query runs.
  package mutating func addRelated(
    _ query: Query, _ reader: some EngineDocumentReader
  ) throws {
    guard query.hasRelated else { return }
    var lines: [String] = []
    _ = try query.replacingRelated { related in
      if related.matches != nil, !related.collection.isEmpty {
        lines += try related.explained(by: reader)
      }
      return .constant(true)
    }
    plan = lines + plan
  }
}

extension RelatedCondition {
  fileprivate func explained(by reader: some EngineDocumentReader) throws -> [String] {
    let inner = try reader.explain(relatedQuery, in: collection)
    let count = matches.map { "\($0.distinctCount)" } ?? "0"
    return ["READ \(count) VALUES OF RELATED DOCUMENTS IN \(collection)"]
      + inner.plan.map { "  " + $0 }
  }
}
