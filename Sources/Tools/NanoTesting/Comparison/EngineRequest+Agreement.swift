// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery

extension EngineRequest.Response {
  /// Returns whether the result of an engine is equivalent to this one, the result of the reference engine.
  ///
  /// Ignores differences that the semantics permit: the last bits of sums and averages of doubles, and which of several
  /// equal values (1 and 1.0) represents them.
  ///
  /// - Parameters:
  ///   - request: The request of both results.
  ///   - reference: The reference engine, in the state in which it executed the request.
  package func agrees(
    with actual: EngineRequest.Response, for request: EngineRequest, _ reference: ReferenceEngine
  ) throws -> Bool {
    switch (self, actual) {
    case (.values(let a), .values(let b)):
      return a.elementsEqual(b) { ValueOrder.compare($0, $1) == 0 }
    case (.groups(let a), .groups(let b)):
      return try Self.agree(a.map(\.object), b.map(\.object), request, reference)
    case (.objects(let a), .objects(let b)): return try Self.agree(a, b, request, reference)
    case (.contents(let a), .contents(let b)): return a.hasSameBytes(as: b)
    default: return self == actual
    }
  }

  private static func agree(
    _ a: [DocumentObject], _ b: [DocumentObject], _ request: EngineRequest,
    _ reference: ReferenceEngine
  ) throws -> Bool {
    if a.elementsEqual(b, by: { ValueOrder.compare(.object($0), .object($1)) == 0 }) { return true }
    let rows = try request.rowsWithAddedNumbers(reference)
    return a.count == b.count && a.count == rows.count
      && a.indices.allSatisfy { agree(a[$0], b[$0], rows[$0]) }
  }

  /// Returns whether two rows have the same fields with equivalent values.
  private static func agree(
    _ a: DocumentObject, _ b: DocumentObject, _ numbers: DocumentObject
  ) -> Bool {
    a.count == b.count
      && zip(a, b).allSatisfy { expected, actual in
        guard expected.name.hasSameBytes(as: actual.name) else { return false }
        if ValueOrder.compare(expected.value, actual.value) == 0 { return true }
        return [false, true].contains { isAverage in
          let name = EngineRequest.addedName(expected.name, isAverage: isAverage)
          guard let added = numbers[name]?.array else { return false }
          return AddedNumbers(added).allow(expected.value, actual.value, isAverage: isAverage)
        }
      }
  }
}

extension EngineRequest {
  /// Returns the name of the field with the numbers of a sum or average.
  fileprivate static func addedName(_ name: String, isAverage: Bool) -> String {
    "\(name) \(isAverage ? "averaged" : "added")"
  }

  /// Returns the rows of an aggregate query or a pipeline, in which each sum or average that the engine may compute in
  /// another order is accompanied by the values of its field.
  fileprivate func rowsWithAddedNumbers(_ reference: ReferenceEngine) throws -> [DocumentObject] {
    let request: EngineRequest
    switch self {
    case .pipeline(let pipeline, let query):
      request = .pipeline(pipeline.withAddedNumbers, query)
    case .aggregate(let aggregate):
      request = .pipeline(aggregate.pipeline.withAddedNumbers, aggregate.query)
    case .find, .pages, .distinct, .contents: return []
    }
    let response = try reference.read(.snapshot, nil) {
      try request.execute($0, Script.collection)
    }
    guard case .objects(let rows) = response else { return [] }
    return rows
  }
}

extension Pipeline {
  fileprivate var withAddedNumbers: Pipeline {
    Pipeline(
      stages.map { stage in
        guard case .group(var grouping) = stage else { return stage }
        grouping.aggregates += grouping.aggregates.compactMap(\.added)
        return .group(grouping)
      })
  }
}

extension Pipeline.NamedAggregate {
  /// The values of the field of a sum or average, or nil for other aggregates.
  ///
  /// The others include sums that only a pipeline can compute: it adds the values in the order of the rows, which all
  /// engines share.
  fileprivate var added: Pipeline.NamedAggregate? {
    switch aggregate.engineAggregate {
    case .sum(let path)?: values(of: path, isAverage: false)
    case .average(let path)?: values(of: path, isAverage: true)
    default: nil
    }
  }

  private func values(of path: FieldPath, isAverage: Bool) -> Pipeline.NamedAggregate {
    Pipeline.NamedAggregate(
      EngineRequest.addedName(name, isAverage: isAverage),
      AggregateExpression(.push, .field(path)))
  }
}

extension AggregateQuery {
  /// The pipeline whose rows are the objects of the groups.
  fileprivate var pipeline: Pipeline {
    let keys = groups.enumerated().map { number, path in
      Pipeline.NamedExpression(AggregateRow.groupName(number), .field(path))
    }
    let values = aggregates.enumerated().map { number, aggregate in
      Pipeline.NamedAggregate(AggregateRow.valueName(number), aggregate.expression)
    }
    return Pipeline([.group(Pipeline.Grouping(.values(keys), values))])
  }
}

extension Aggregate {
  fileprivate var expression: AggregateExpression {
    switch self {
    case .count: AggregateExpression(.count, nil)
    case .countOf(let path): AggregateExpression(.count, .field(path))
    case .min(let path): AggregateExpression(.min, .field(path))
    case .max(let path): AggregateExpression(.max, .field(path))
    case .average(let path): AggregateExpression(.average, .field(path))
    case .sum(let path): AggregateExpression(.sum, .field(path))
    }
  }
}

extension AggregateRow {
  fileprivate static func groupName(_ number: Int) -> String { "g\(number)" }
  fileprivate static func valueName(_ number: Int) -> String { "v\(number)" }

  /// The group and the results as fields.
  fileprivate var object: DocumentObject {
    var object = DocumentObject()
    for (number, value) in group.enumerated() { object[Self.groupName(number)] = value }
    for (number, value) in values.enumerated() { object[Self.valueName(number)] = value }
    return object
  }
}
