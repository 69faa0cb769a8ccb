// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import Synchronization

/// Plays one case of NTJsonStore to a store of ours.
///
/// Collections are made by being named, known by row ids, as they were there; stores are opened when
/// they are first used.
// @unchecked: one thread at a time: the one that runs the case waits for the calls that it queues.
final class NTJsonStoreCaseRunner: @unchecked Sendable {
  let one: AcceptanceCase
  let folder: Scratch
  var setup: StoreSetup
  var opened: Store?
  var documents: [String: Document] = [:]
  /// Indexes that could not be made when they were declared; the original told so later.
  var undone: [(collection: String, keys: String, isUnique: Bool)] = []
  /// Fields that queries of the case have named, by collection: the original made columns of them.
  var asked: [String: Set<String>] = [:]
  private var number = 0

  init(_ one: AcceptanceCase) throws {
    self.one = one
    folder = try Scratch()
    setup = StoreSetup(path: folder.path, name: "case.db")
  }

  deinit { try? opened?.close() }

  func run() throws {
    for step in one.steps {
      number += 1
      try check(step, result(of: step))
    }
  }

  func store() throws -> Store {
    if let opened { return opened }
    let store = try Store(.file(setup.file))
    // The original cached so many in each collection unless told otherwise.
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
    CaseFailure(description: "\(one.id) step \(number): \(description)")
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
    // The asynchronous form of an operation, and the next step sees what it did.
    guard op.hasPrefix("async"), let first = op.dropFirst(5).first else {
      throw failure("the runner does not know \"\(op)\"")
    }
    var plain = step
    plain["op"] = .string(first.lowercased() + op.dropFirst(6))
    return try queued([plain], step)["results"]?.array?.first?.object ?? [:]
  }

  /// Starts operations without waiting for them, but those that are said to be plain, and gives what
  /// each gave and the order in which they ended.
  private func queued(
    _ steps: [DocumentObject], _ outer: DocumentObject
  ) throws -> DocumentObject {
    let journal = Mutex<[(number: Int64, result: DocumentObject)]>([])
    let names = try steps.map { try collection(merged($0, outer)).name }
    for (number, step) in steps.enumerated() {
      let step = merged(step, outer)
      let note: @Sendable () -> Void = {
        // One at a time, also on several collections.
        journal.withLock { journal in
          let result = Result { try self.result(of: step) }
          journal.append((Int64(number), (try? result.get()) ?? ["error": "failure"]))
        }
      }
      if step["async"] == false || step["sync"] == true {
        try store().finishQueued()
        note()
      } else {
        try collection(step).enqueue { _ in note() }
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

  /// The error kinds of the cases, by our codes.
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
  private static let missingRowID = "A document with neither key nor row id cannot replace another"
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
    // The result of a document lists what it lacks: none of those that are wanted may be there.
    if field == "absent", let names = wanted.array, let there = found.array {
      return names.allSatisfy { !there.contains($0) }
    }
    guard field == "set" || field == "errors", wanted.array != nil else {
      return wanted.matches(found)
    }
    return DocumentValue.isSameSet(wanted, found)
  }

  /// A value of the file: data and dates, which JSON lacks, and the folder of the case.
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
