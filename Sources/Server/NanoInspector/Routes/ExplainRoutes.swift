// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoServer
import NanoStoreCore

/// How a query is executed.
extension Inspector {
  func explain(in collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let query = try request.query(in: collection)
    let explanation = try await query.explain()
    let total = try await collection.count()
    let clock = ContinuousClock()
    var start = clock.now
    let returned = try await query.limit(min(query.query.limit ?? 50, 50)).fetch().count
    let firstPage = (clock.now - start) / .milliseconds(1)
    start = clock.now
    let matched = try await query.sorted(by: []).count()
    let counting = (clock.now - start) / .milliseconds(1)
    let examined = Examined(explanation, query.query, matched: matched, total: total)
    let advice = try await store.indexAdvice().filter {
      $0.collection.folded == collection.name.folded
    }
    return [
      "indexes": .strings(explanation.indexes),
      "checkedPerDocument": .optional(explanation.checkedPerDocument),
      "statement": .string(explanation.statement), "plan": .strings(explanation.plan),
      "unknownFields": .array(
        explanation.unknownFields.map { field in
          [
            "field": .string(field.path.description),
            "nearest": .optional(field.nearest?.description),
          ]
        }),
      "total": .int(total), "matched": .int(matched), "returned": .int(returned),
      "atLeastExamined": .int(examined.minimum), "atMostExamined": .int(examined.maximum),
      "firstPageMilliseconds": .double(firstPage), "countMilliseconds": .double(counting),
      "candidates": .strings(try await candidates(for: query)),
      "advice": .array(advice.map(Self.wire)),
    ]
  }

  /// Returns the fields, as `createIndex(keys:)` names them, of indexes that would find the documents.
  private func candidates(for query: DocumentQuery) async throws -> [String] {
    let observed = ObservedFields(try await query.collection.observedPaths())
    var candidates = IndexCandidates(query.query) { observed.summary(at: $0) }
    candidates.remove(servedBy: try await query.collection.indexes())
    return candidates.condition.map { $0.definition().declaration }
  }
}

/// The number of documents that the engine reads for all results of a query.
///
/// An engine does not count them. The plan shows whether it is the number of matches, the number of all documents, or
/// between them.
private struct Examined {
  let minimum: Int
  let maximum: Int

  init(_ explanation: Explanation, _ query: Query, matched: Int, total: Int) {
    if explanation.indexes.isEmpty {
      minimum = query.condition == .constant(true) ? matched : total
      maximum = minimum
    } else {
      minimum = matched
      maximum = explanation.checkedPerDocument == nil ? matched : total
    }
  }
}

/// What the path catalog knows about fields, as engines use it to choose indexes.
private struct ObservedFields: Sendable {
  private let paths: [(path: SurveyPath, types: ObservedTypes)]

  init(_ observed: [ObservedPath]) {
    paths = observed.map { (SurveyPath(catalog: $0.path), $0.types) }
  }

  /// Nil if not every path below one of the field's objects is tracked.
  func summary(at field: FieldPath) -> PathSummary? {
    let names = field.components.map { ExactName($0) }
    var summary = PathSummary(types: [], entersArray: false)
    for (path, types) in paths {
      let own = path.steps.compactMap(\.self)
      guard names.starts(with: own) else { continue }
      if types.contains(.open) { return nil }
      let nested = zip(path.steps, path.steps.dropFirst()).contains { $0 == nil && $1 == nil }
      summary.entersArray = summary.entersArray || path.steps.contains(nil)
      summary.entersNestedArray = summary.entersNestedArray || nested
      if own.count == names.count { summary.types.formUnion(types) }
    }
    return summary
  }
}
