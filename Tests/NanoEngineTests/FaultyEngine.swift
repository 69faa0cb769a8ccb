// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoQuery
import NanoTesting
import Synchronization

/// The reference engine, but its readers return one kind of wrong results.
final class FaultyEngine: ForwardingEngine {
  enum Fault: Sendable, Equatable {
    /// Queries omit their last document.
    case omittedDocument
    /// Queries return text in Unicode normalization form C.
    case normalizedText
    /// The integers among these results of aggregate queries are off by one.
    case count, sum, extreme
    /// The integers in the rows of pipelines are off by one.
    case pipelineField
    /// The write transaction of this number, from 1, fails at its end.
    case failedCommit(Int)
  }

  let engine: any Engine = ReferenceEngine()
  private let fault: Fault
  private let writes = Atomic(0)
  init(_ fault: Fault) { self.fault = fault }

  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    // The faulty reader does not forward every call.
    if case .failedCommit = fault { return try engine.read(scope, interruption, work) }
    return try engine.read(scope, interruption) { try work(FaultyReader($0, fault)) }
  }
  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    let number = writes.add(1, ordering: .relaxed).newValue
    return try engine.write(isolation, interruption) { writer in
      let result = try work(writer)
      if fault == .failedCommit(number) {
        throw StoreError(.full, "No space is left for the database")
      }
      return result
    }
  }
}

private final class FaultyReader: EngineReader {
  private let reader: any EngineReader
  private let fault: FaultyEngine.Fault
  init(_ reader: any EngineReader, _ fault: FaultyEngine.Fault) {
    self.reader = reader
    self.fault = fault
  }

  func find(_ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool) throws {
    let count = try reader.count(query, in: collection)
    var yielded = 0
    try reader.find(query, in: collection) { document in
      yielded += 1
      if fault == .omittedDocument, yielded == count { return false }
      guard fault == .normalizedText else { return try show(document) }
      let text = String(decoding: document.body, as: UTF8.self)
      return try Array(text.precomposedStringWithCanonicalMapping.utf8).withUnsafeBytes { body in
        var normalized = document
        normalized.body = body
        return try show(normalized)
      }
    }
  }

  func pipeline(
    _ pipeline: Pipeline, _ query: Query, in collection: String,
    _ show: (DocumentObject) throws -> Bool
  ) throws {
    try reader.pipeline(pipeline, query, in: collection) { row in
      guard fault == .pipelineField else { return try show(row) }
      return try show(DocumentObject(row.map { ($0.name, Self.offByOne($0.value)) }))
    }
  }

  private static func offByOne(_ value: DocumentValue) -> DocumentValue {
    guard case .int(let number) = value else { return value }
    return .int(number ^ 1)
  }

  private func isWrong(_ aggregate: Aggregate) -> Bool {
    switch aggregate {
    case .count, .countOf: fault == .count
    case .min, .max: fault == .extreme
    case .sum: fault == .sum
    case .average: false
    }
  }

  func collections() throws -> [CollectionDescription] { try reader.collections() }
  func identity(of collection: String) throws -> CollectionIdentity {
    try reader.identity(of: collection)
  }
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try reader.get(identity, in: collection, show)
  }
  func count(_ query: Query, in collection: String) throws -> Int {
    try reader.count(query, in: collection)
  }
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    try reader.aggregate(query, in: collection).map { row in
      let values = zip(query.aggregates, row.values).map { aggregate, value in
        isWrong(aggregate) ? Self.offByOne(value) : value
      }
      return AggregateRow(group: row.group, values: values)
    }
  }
  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    try reader.distinct(field, query, in: collection)
  }
  func explain(_ query: Query, in collection: String) throws -> Explanation {
    try reader.explain(query, in: collection)
  }
  func indexes(in collection: String) throws -> [IndexDefinition] {
    try reader.indexes(in: collection)
  }
  func settings(of collection: String) throws -> CollectionSettings {
    try reader.settings(of: collection)
  }
  func observedPaths(in collection: String) throws -> [ObservedPath] {
    try reader.observedPaths(in: collection)
  }
  func metadata(_ name: String) throws -> DocumentValue? { try reader.metadata(name) }
  func metadataNames() throws -> [String] { try reader.metadataNames() }
}
