// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Synchronization

/// Runs one acceptance case of NTJsonStore against a store.
///
/// As in the original, naming a collection creates it with row IDs as identity, and a store is opened
/// on first use.
// @unchecked: used by one thread at a time; the thread that runs the case waits for the queued calls.
final class NTJsonStoreCaseRunner: @unchecked Sendable {
  let testCase: AcceptanceCase
  let folder: Scratch
  var setup: StoreSetup
  var opened: Store?
  var documents: [String: Document] = [:]
  /// Index creations that failed; the original reported their errors later.
  var failedIndexes: [(collection: String, keys: String, isUnique: Bool)] = []
  /// Fields named by queries of the case, by collection; the original created columns for them.
  var queriedFields: [String: Set<String>] = [:]
  private var number = 0

  init(_ testCase: AcceptanceCase) throws {
    self.testCase = testCase
    folder = try Scratch()
    setup = StoreSetup(path: folder.path, name: "case.db")
  }

  deinit { try? opened?.close() }

  func run() throws {
    for step in testCase.steps {
      number += 1
      try check(step, result(of: step))
    }
  }

  func store() throws -> Store {
    if let opened { return opened }
    let store = try Store(.file(setup.file))
    // The original's default number of cached documents per collection.
    store.defaultCacheSize = 50
    opened = store
    return store
  }

  func collection(_ step: DocumentObject) throws -> DocumentCollection {
    let collection = try unopened(step)
    if collection.store.isClosed { return collection }
    return try collection.store.createCollection(collection.name, identity: .rowID)
  }

  /// Returns the step's collection without creating it. As in the original, names are in lowercase.
  func unopened(_ step: DocumentObject) throws -> DocumentCollection {
    try store()[(step["collection"]?.string ?? "c").lowercased()]
  }

  func failure(_ description: String) -> CaseFailure {
    CaseFailure(description: "\(testCase.id) step \(number): \(description)")
  }
}

extension NTJsonStoreCaseRunner {
  func result(of step: DocumentObject) throws -> DocumentObject {
    do {
      return try perform(step["op"]?.string ?? "", step).asResult
    } catch let error as StoreError {
      return [
        "ok": false, "error": .string(Self.kind(error)), "isNil": true, "rowid": 0, "value": -1,
        "count": 0,
      ]
    }
  }

  private func perform(_ op: String, _ step: DocumentObject) throws -> DocumentObject {
    if let result = try performDocuments(op, step) ?? performSettings(op, step)
      ?? performStore(op, step) ?? performCache(op, step) ?? performOrder(op, step)
    {
      return result
    }
    guard op.hasPrefix("async"), let first = op.dropFirst(5).first else {
      throw CaseFailure(testCase, unknownOperation: op)
    }
    // An asynchronous operation; the next step sees its effect.
    var plain = step
    plain["op"] = .string(first.lowercased() + op.dropFirst(6))
    // Several insertions have no document of their own.
    let isSeveral = plain["op"] == "insert" && step["json"] == nil && isSequence(step)
    if op == "asyncSequence" || isSeveral { return try queued(sequence(step), step) }
    do {
      var result = try queued([plain], step)
      let outcome = result["results"]?.array?.first?.object ?? [:]
      for (name, value) in outcome { result[name] = value }
      return result
    } catch let failure as CaseFailure where failure.isUnknownOperation && isSequence(step) {
      // Not the asynchronous form of an operation, but a name for several operations.
      return try queued(sequence(step), step)
    }
  }

  /// Maps a store error to the error kind that the cases use.
  static func kind(_ error: StoreError) -> String {
    switch error.code {
    case .uniqueViolation, .duplicateKey: "constraint"
    case .invalidQuery, .invalidPath, .database: "sql"
    case .closed: "closed"
    case .notFound: "notFound"
    case .invalidArgument where error.message == missingRowID: "missingRowId"
    case .invalidArgument where error.message == storeOpen: "storeOpen"
    case .invalidArgument: "invalidArgument"
    case let code: code.rawValue
    }
  }
  private static let missingRowID = "A document with neither key nor row ID cannot replace another"
  static let storeOpen = "The store is open"

  private func check(_ step: DocumentObject, _ actual: DocumentObject) throws {
    try testCase.check(step, number, actual) { field, wanted, found in
      let isIndexes = field == "set" && ["indexes", "asyncIndexes"].contains(step["op"]?.string)
      return try isIndexes
        ? DocumentValue.isSameSet(Self.canonical(value(wanted)), Self.canonical(found))
        : isSame(field, value(wanted), found)
    }
  }

  private func isSame(_ field: String, _ wanted: DocumentValue, _ found: DocumentValue) -> Bool {
    // The result lists the fields that are present; none of the expected absent fields may be among them.
    if field == "absent", let names = wanted.array, let present = found.array {
      return names.allSatisfy { !present.contains($0) }
    }
    if field == "results", let wanted = wanted.array, let found = found.array {
      return wanted.count == found.count && zip(wanted, found).allSatisfy(Self.isResult)
    }
    guard field == "set" || field == "errors", wanted.array != nil else {
      return wanted.matches(found)
    }
    return DocumentValue.isSameSet(wanted, found)
  }

  /// Returns whether a result has the expected values; a value that is no object is the result's main value.
  private static func isResult(_ wanted: DocumentValue, _ found: DocumentValue) -> Bool {
    if wanted.object != nil { return wanted.isPart(of: found) }
    return ["value", "rowid", "count", "error"].contains { name in
      found[FieldPath(components: [name])].map { wanted.matches($0) } ?? false
    }
  }

  /// Decodes a value of the case file: data and dates, which JSON lacks, and folders.
  func value(_ raw: DocumentValue) throws -> DocumentValue {
    switch raw {
    case .string(let text):
      return .string(Self.folders(in: text.replacing("<temp>", with: folder.path)))
    case .array(let array): return .array(try array.map { try value($0) })
    case .object(let object):
      switch object.first?.name {
      case "$data": return .data(Data(base64Encoded: object[0].value.string ?? "") ?? Data())
      case "$date": return .date(try Date(object[0].value.string ?? "", strategy: .iso8601))
      case "$float", "$double": return object[0].value.double.map { .double($0) } ?? .null
      case "$null": return .null
      default: return .object(DocumentObject(try object.map { ($0.name, try value($0.value)) }))
      }
    default: return raw
    }
  }
}
