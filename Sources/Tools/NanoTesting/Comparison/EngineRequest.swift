// SPDX-License-Identifier: MIT

package import NanoDocument
package import NanoEngine
package import NanoQuery

/// A read request that can run on any engine, so that the results can be compared.
package enum EngineRequest: Sendable, Hashable {
  /// The row IDs of the matching documents in order, and their count.
  case find(Query)
  /// The same in pages, each starting after the last document of the previous page.
  case pages(Query, size: Int)
  case distinct(FieldPath, Query)
  case aggregate(AggregateQuery)
  case pipeline(Pipeline, Query)
  /// Every document with its metadata.
  case contents

  /// The result of a request, including errors.
  package enum Response: Sendable, Hashable {
    case rows([Int64], count: Int)
    case values([DocumentValue])
    case groups([AggregateRow])
    case objects([DocumentObject])
    case contents([String])
    case failed(StoreError.Code)
  }

  /// The condition, order and page of the request.
  package var query: Query {
    switch self {
    case .find(let query), .pages(let query, _), .distinct(_, let query), .pipeline(_, let query):
      query
    case .aggregate(let query): query.query
    case .contents: Query()
    }
  }

  /// Returns the request with a different condition, order and page.
  package func with(_ query: Query) -> EngineRequest {
    switch self {
    case .find: return .find(query)
    case .pages(_, let size): return .pages(query, size: size)
    case .distinct(let path, _): return .distinct(path, query)
    case .pipeline(let pipeline, _): return .pipeline(pipeline, query)
    case .aggregate(var aggregate):
      aggregate.query = query
      return .aggregate(aggregate)
    case .contents: return self
    }
  }

  /// Executes the request on a reader; a ``StoreError`` is returned as a response.
  package func execute(
    _ reader: any EngineReader, _ collection: String, comparesRevisions: Bool = true
  ) throws -> Response {
    do {
      switch self {
      case .find(let query):
        let rows = try Self.rows(query, reader, collection).map(\.rowID)
        return .rows(rows, count: try reader.count(query, in: collection))
      case .pages(let query, let size): return try pages(query, size, reader, collection)
      case .distinct(let path, let query):
        return .values(try reader.distinct(path, query, in: collection))
      case .aggregate(let query): return .groups(try reader.aggregate(query, in: collection))
      case .pipeline(let pipeline, let query):
        var rows: [DocumentObject] = []
        try reader.pipeline(pipeline, query, in: collection) { row in
          rows.append(row)
          return true
        }
        return .objects(rows)
      case .contents:
        var found: [String] = []
        try reader.find(Query(), in: collection) { document in
          found.append(Self.description(document, comparesRevisions))
          return true
        }
        return .contents(found)
      }
    } catch let error as StoreError {
      return .failed(error.code)
    }
  }

  private static func description(_ document: StoredDocument, _ hasRevision: Bool) -> String {
    "\(document.rowID) \(document.key?.description ?? "-") \(document.type ?? "-") "
      + "\(document.version ?? -1) \(document.added ?? -1) "
      + (hasRevision ? "\(document.revision ?? -1) " : "")
      + String(decoding: document.body, as: UTF8.self)
  }

  private func pages(
    _ query: Query, _ size: Int, _ reader: any EngineReader, _ collection: String
  ) throws -> Response {
    var query = query
    (query.limit, query.offset) = (size, 0)
    var rows: [Int64] = []
    // Bounded, because an engine whose pages repeat would never finish.
    for _ in 0..<1_000 {
      let page = try Self.rows(query, reader, collection)
      rows += page.map(\.rowID)
      guard let last = page.last else { break }
      query.after = last
    }
    return .rows(rows, count: rows.count)
  }

  /// Returns the page positions of the matching documents.
  private static func rows(
    _ query: Query, _ reader: any EngineReader, _ collection: String
  ) throws -> [PagePosition] {
    var rows: [PagePosition] = []
    let defaults = FieldDefaults(try reader.settings(of: collection).defaults)
    try reader.find(query, in: collection) { document in
      var json = JSONReader(document.body)
      var subject = document.subject(try json.object())
      subject.defaults = defaults
      rows.append(
        PagePosition(
          values: try query.orderings.map { try $0.value(for: subject) }, rowID: document.rowID))
      return true
    }
    return rows
  }
}
