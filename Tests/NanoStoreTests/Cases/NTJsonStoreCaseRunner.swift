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
    let name = step["collection"]?.string ?? "c"
    let store = try store()
    if store.isClosed { return store[name] }
    return try store.createCollection(name, identity: .rowID)
  }

  func failure(_ description: String) -> CaseFailure {
    CaseFailure(description: "\(testCase.id) step \(number): \(description)")
  }
}

extension NTJsonStoreCaseRunner {
  private func result(of step: DocumentObject) throws -> DocumentObject {
    do {
      return try perform(step["op"]?.string ?? "", step)
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
    if let steps = ["steps", "operations", "ops", "calls"].lazy.compactMap({ step[$0]?.array })
      .first
    {
      return try queued(steps.compactMap(\.object), step)
    }
    // An asynchronous operation; the next step sees its effect.
    guard op.hasPrefix("async"), let first = op.dropFirst(5).first else {
      throw failure("unsupported operation \"\(op)\"")
    }
    var plain = step
    plain["op"] = .string(first.lowercased() + op.dropFirst(6))
    return try queued([plain], step)["results"]?.array?.first?.object ?? [:]
  }

  /// Starts the asynchronous operations without waiting for them, and runs those marked synchronous in
  /// place. Returns each operation's result and the order of completion.
  private func queued(
    _ steps: [DocumentObject], _ outer: DocumentObject
  ) throws -> DocumentObject {
    let journal = Mutex<[(number: Int64, result: DocumentObject)]>([])
    let names = try steps.map { try collection(merged($0, outer)).name }
    for (number, step) in steps.enumerated() {
      let step = merged(step, outer)
      let runAndRecord: @Sendable () -> Void = {
        // Operations run one at a time, even on different collections.
        journal.withLock { journal in
          let result = Result { try self.result(of: step) }
          journal.append((Int64(number), (try? result.get()) ?? ["error": "failure"]))
        }
      }
      if step["async"] == false || step["sync"] == true {
        try store().finishQueued()
        runAndRecord()
      } else {
        try collection(step).enqueue { _ in runAndRecord() }
      }
    }
    try store().finishQueued(names)
    let ended = journal.withLock { $0 }
    let order = ended.map(\.number)
    let results = ended.sorted { $0.number < $1.number }.map { DocumentValue.object($0.result) }
    return [
      "ok": true, "results": .array(results), "order": .array(order.map { .int($0) }),
      "ordered": .bool(order == order.sorted()), "inOrder": .bool(order == order.sorted()),
    ]
  }

  private func merged(_ step: DocumentObject, _ outer: DocumentObject) -> DocumentObject {
    var step = step
    if step["collection"] == nil { step["collection"] = outer["collection"] ?? "c" }
    return step
  }

  /// Maps a store error to the error kind that the cases use.
  private static func kind(_ error: StoreError) -> String {
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
  private static let storeOpen = "The setup names a different file than that of the open store"

  private func check(_ step: DocumentObject, _ actual: DocumentObject) throws {
    for (field, expected) in step["expect"]?.object ?? [:] {
      let found = actual[field] ?? .null
      let wanted = try value(expected)
      guard isSame(field, wanted, found) else {
        throw failure(
          "\(step.jsonString(dialect: .plain)): \(field) is \(found.jsonString()), expected "
            + "\(wanted.jsonString()); all: \(actual.jsonString())")
      }
    }
  }

  private func isSame(_ field: String, _ wanted: DocumentValue, _ found: DocumentValue) -> Bool {
    // The result lists the fields that are present; none of the expected absent fields may be among them.
    if field == "absent", let names = wanted.array, let present = found.array {
      return names.allSatisfy { !present.contains($0) }
    }
    guard field == "set" || field == "errors", wanted.array != nil else {
      return wanted.matches(found)
    }
    return DocumentValue.isSameSet(wanted, found)
  }

  /// Decodes a value of the case file: data and dates, which JSON lacks, and the folder of the case.
  func value(_ raw: DocumentValue) throws -> DocumentValue {
    switch raw {
    case .string(let text): return .string(text.replacing("<temp>", with: folder.path))
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
