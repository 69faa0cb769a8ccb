// SPDX-License-Identifier: MIT

public import NanoDocument
public import NanoQuery

extension Search {
  /// Computes aggregates over field values of the matching documents.
  ///
  /// In sums and averages, a string that reads as a number counts as that number, just as a search
  /// for a number finds it. Fields that are not among ``fields`` count, too.
  ///
  /// ```swift
  /// // ["m": 12], ["m": "7"], ["m": "12abc"]
  /// try Search().aggregate([.sum("m")], in: objects)   // [19]
  /// ```
  ///
  /// - Returns: One value for each aggregate, in order.
  public func aggregate(
    _ aggregates: [Aggregate], in collection: DocumentCollection
  ) throws -> [DocumentValue] {
    let query = query(in: collection).changed { $0.fields = nil }
    return try Self.readingNumbers(aggregates, query.aggregate) { visit in
      let defaults = FieldDefaults(try collection.defaults())
      try query.each { try visit(DocumentSubject(try $0.object(), defaults: defaults)) }
    }
  }
  /// The asynchronous form of `aggregate(_:in:)`, which does not block the calling thread.
  public func aggregate(
    _ aggregates: [Aggregate], in collection: DocumentCollection
  ) async throws -> [DocumentValue] {
    try await collection.onReader { try self.aggregate(aggregates, in: collection) }
  }

  /// Returns the engine's result, unless there are strings among the values to sum; then the
  /// documents are read.
  package static func readingNumbers(
    _ aggregates: [Aggregate], _ answers: ([Aggregate]) throws -> [DocumentValue],
    _ each: ((DocumentSubject) throws -> Void) throws -> Void
  ) throws -> [DocumentValue] {
    let summed = Set(aggregates.filter(\.sums).compactMap(\.field)).map { Aggregate.max($0) }
    let answer = try answers(aggregates + summed)
    // Strings sort after numbers, so the largest value shows whether there are any.
    let hasTexts = answer.dropFirst(aggregates.count).contains {
      ValueOrder.compare($0, .string("")) >= 0
    }
    guard hasTexts else { return Array(answer.prefix(aggregates.count)) }
    var all = aggregates.map { Aggregation($0) }
    try each { subject in
      for index in all.indices {
        all[index].addDocument()
        guard let field = aggregates[index].field else { continue }
        for value in subject.values(at: field) where Aggregation.counts(value) {
          guard aggregates[index].sums, case .string(let text) = value else {
            all[index].add(value)
            continue
          }
          if let number = SearchValue.number(text) { all[index].add(number) }
        }
      }
    }
    return all.map(\.result)
  }
}

extension Aggregate {
  fileprivate var sums: Bool {
    switch self {
    case .average, .sum: true
    default: false
    }
  }
}
