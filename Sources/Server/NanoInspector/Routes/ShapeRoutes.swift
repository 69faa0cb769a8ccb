// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoServer
import NanoStoreCore

/// The paths of a collection's documents.
extension Inspector {
  /// Returns the path catalog: every path that any document ever had, with its types.
  func paths(of collection: DocumentCollection) async throws -> Wire {
    let observed = try await collection.observedPaths()
    let aliases = try await collection.aliases().sorted { $0.key < $1.key }
    return [
      "paths": .array(
        observed.prefix(Self.maximumCatalog).map { observed in
          let path = SurveyPath(catalog: observed.path)
          return [
            "path": .string(observed.path), "names": .strings(path.names),
            "field": .optional(path.field.map { QueryExpression.field($0).queryText }),
            "types": .strings(observed.types.names),
          ]
        }),
      "isComplete": .bool(observed.count <= Self.maximumCatalog),
      "aliases": .fields(aliases.map { (name: $0.key, value: .string($0.value)) }),
    ]
  }

  /// The number of paths that completion works with; arbitrary.
  private static let maximumCatalog = 2_000

  /// Returns statistics of the values at each path, or at a single one.
  func shape(of collection: DocumentCollection, _ request: ServerRequest) async throws -> Wire {
    let query = try request.query(in: collection)
    let only = request["path"].map { SurveyPath(catalog: $0) }
    let values = try request.integer("values", in: 1...200, default: 8)
    return try await store.read {
      var survey = Survey()
      let sample = try Sample(of: query) { document in
        // Another program can write a body that is not an object; it has no shape.
        guard let object = try? document.object() else { return }
        survey.add(only?.field.map { object.selecting([$0]) } ?? object)
      }
      let total = try sample.kind == .first ? nil : collection.count()
      let paths = survey.ordered.filter { only == nil || $0.path == only }
      return [
        "sample": .string(sample.kind.rawValue), "documents": .int(survey.documents),
        "total": .optional(total), "isTruncated": .bool(survey.isTruncated),
        "condition": .string(Self.text(of: query.query.condition)),
        "paths": .array(paths.map { Self.wire($0.path, $0.statistics, values) }),
      ]
    }
  }

  private static func wire(
    _ path: SurveyPath, _ statistics: PathStatistics, _ values: Int
  ) -> Wire {
    let field = path.field.map(QueryExpression.field)
    let histogram = statistics.histogram(bins: 24)
    return [
      "path": .string(path.text), "field": .optional(field?.queryText),
      "isElement": .bool(path.steps.last == .some(nil)), "depth": .int(path.steps.count - 1),
      "documents": .int(statistics.documents), "values": .int(statistics.values),
      "types": .array(
        statistics.types.map { ["name": .string($0.name), "count": .int($0.count)] }),
      "distinct": .int(statistics.distinct), "hasMoreValues": .bool(statistics.hasMoreValues),
      "smallest": statistics.smallest.map { .value($0, .row) } ?? .null,
      "largest": statistics.largest.map { .value($0, .row) } ?? .null,
      "exists": .optional(path.field.map { Condition.exists($0).queryText }),
      "frequent": .array(
        statistics.frequent(values).map { value, count in
          let condition = field.map { Condition.comparison($0, .equal, .value(value)).queryText }
          return [
            "value": .value(value, .row), "count": .int(count),
            "condition": .optional(condition),
            "text": .string(QueryExpression.value(value).queryText),
          ]
        }),
      "histogram": histogram.map { wire($0, field) } ?? .null,
    ]
  }

  private static func wire(_ histogram: PathStatistics.Histogram, _ field: QueryExpression?) -> Wire
  {
    let width = (histogram.high - histogram.low) / Double(histogram.heights.count)
    let bound = { (number: Double) -> DocumentValue in
      histogram.isDates
        ? .date(.init(timeIntervalSince1970: number)) : DocumentValue(rounding: number)
    }
    let bins: [Wire] = histogram.heights.enumerated().map { number, height in
      let low = bound(histogram.low + width * Double(number))
      let isLast = number == histogram.heights.count - 1
      let high = bound(isLast ? histogram.high : histogram.low + width * Double(number + 1))
      let condition = field.map { field in
        Condition.all([
          .comparison(field, .greaterOrEqual, .value(low)),
          .comparison(field, isLast ? .lessOrEqual : .less, .value(high)),
        ]).queryText
      }
      return [
        "count": .int(height), "low": .value(low, .row), "high": .value(high, .row),
        "condition": .optional(condition),
      ]
    }
    return ["isDates": .bool(histogram.isDates), "bins": .array(bins)]
  }
}

extension DocumentValue {
  /// Creates an integer if the number is one, so that conditions read `[year] >= 1927`.
  fileprivate init(rounding number: Double) {
    self = Int64(exactly: number).map { .int($0) } ?? .double(number)
  }
}
