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
    let magnitudes = try request.rowsWithMagnitudes(reference)
    return a.count == b.count && a.count == magnitudes.count
      && a.indices.allSatisfy { agree(a[$0], b[$0], magnitudes[$0]) }
  }

  /// Returns whether two rows have the same fields with equivalent values.
  private static func agree(
    _ a: DocumentObject, _ b: DocumentObject, _ magnitudes: DocumentObject
  ) -> Bool {
    a.count == b.count
      && zip(a, b).allSatisfy { expected, actual in
        guard expected.name.hasSameBytes(as: actual.name) else { return false }
        if ValueOrder.compare(expected.value, actual.value) == 0 { return true }
        let magnitude = magnitudes[EngineRequest.magnitudeName(expected.name)]?.double
        return magnitude.map { areNear(expected.value, actual.value, $0) } ?? false
      }
  }

  /// Returns whether two sums, or two averages, differ only by rounding.
  ///
  /// Rounding depends on the order of addition, and on the engine: a server adds the decimals of doubles exactly.
  ///
  /// - Parameter magnitude: The sum or average of the magnitudes of the numbers.
  private static func areNear(
    _ a: DocumentValue, _ b: DocumentValue, _ magnitude: Double
  ) -> Bool {
    // Only results that are doubles are rounded.
    guard a.isDouble || b.isDouble, let x = a.double, let y = b.double, !magnitude.isNaN else {
      return false
    }
    // A sum may overflow in one order of addition but not in another.
    if magnitude.isInfinite, !x.isFinite || !y.isFinite { return true }
    // Below the normal range, a double has so few digits that its decimal may differ by more.
    let tolerance = min(magnitude, .greatestFiniteMagnitude) * relativeTolerance
    return (x - y).magnitude <= max(tolerance, .leastNormalMagnitude)
  }

  /// The terms, a compensated sum and a division are rounded by 1.1e-16 each.
  private static let relativeTolerance = 1e-14
}

extension EngineRequest {
  /// Returns the name of the field with the magnitude of a sum or average.
  fileprivate static func magnitudeName(_ name: String) -> String { "\(name) magnitude" }

  /// Returns the rows of an aggregate query or a pipeline, in which each sum or average that the engine may compute in
  /// another order is accompanied by that of the magnitudes of the numbers.
  fileprivate func rowsWithMagnitudes(_ reference: ReferenceEngine) throws -> [DocumentObject] {
    let request: EngineRequest
    switch self {
    case .pipeline(let pipeline, let query):
      request = .pipeline(pipeline.withMagnitudes, query)
    case .aggregate(let aggregate):
      request = .pipeline(aggregate.pipeline.withMagnitudes, aggregate.query)
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
  fileprivate var withMagnitudes: Pipeline {
    Pipeline(
      stages.map { stage in
        guard case .group(var grouping) = stage else { return stage }
        grouping.aggregates += grouping.aggregates.compactMap(\.magnitude)
        return .group(grouping)
      })
  }
}

extension Pipeline.NamedAggregate {
  /// The sum or average of the magnitudes, or nil for other aggregates.
  ///
  /// The others include sums that only a pipeline can compute: it adds the values in the order of the rows, which all
  /// engines share.
  fileprivate var magnitude: Pipeline.NamedAggregate? {
    switch aggregate.engineAggregate {
    case .sum(let path)?, .average(let path)?:
      Pipeline.NamedAggregate(
        EngineRequest.magnitudeName(name),
        AggregateExpression(aggregate.function, .function(.abs, [.field(path)])))
    default: nil
    }
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

extension DocumentValue {
  fileprivate var isDouble: Bool { if case .double = self { true } else { false } }
}
