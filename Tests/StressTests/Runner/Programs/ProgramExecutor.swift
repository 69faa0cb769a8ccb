// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTesting

/// Performs calls on its own store and returns their outcomes.
///
/// Generated keys are random, so the leading player records them, and the player that follows uses the same ones.
// @unchecked: performs one call at a time, and waits for a call on a different thread.
final class ProgramExecutor: @unchecked Sendable {
  let mode: StoreMode
  /// Whether it uses the reference engine.
  let isReference: Bool
  private let folder: String
  private var files = 0
  private var path: String
  /// The clock by which documents expire.
  let clock = ManualClock()
  private let reference: Reference

  var store: Store
  var bags: [Bag] = []
  /// By collection.
  var mirrors: [String: FeedMirror] = [:]
  /// The collections whose change feed may start again when it is next read.
  var restartable: Set<String> = []
  var observations: [LiveObservation] = []
  private let leading: ProgramExecutor?
  /// The generated keys of each call that generates some.
  private(set) var made: [[String]] = []
  private var taken = 0

  /// - Parameters:
  ///   - leading: The player to follow; nil for the leading one.
  ///   - folder: The folder of the files.
  init(_ mode: StoreMode, in folder: String, following leading: ProgramExecutor? = nil) throws {
    self.mode = mode
    self.folder = folder
    self.leading = leading
    isReference = leading != nil
    path = folder + "/0.db"
    let reference = Reference(clock)
    self.reference = reference
    if leading == nil {
      store = try mode.open(path, clock)
    } else {
      store = try Store(opening: { reference.opened })
    }
    store.register(Figure.self)
  }

  /// Performs one call. An error is an outcome.
  func perform(_ call: Call) -> Outcome {
    do { return try outcome(of: call) } catch { return Outcome(error) }
  }

  private func outcome(of call: Call) throws -> Outcome {
    noteRestarts(call)
    if let outcome = try performWrite(call) { return outcome }
    if let outcome = try performQuery(call) { return outcome }
    if let outcome = try performSchemaChange(call) { return outcome }
    if let outcome = try performBagCall(call) { return outcome }
    if let outcome = try performFeatureCall(call) { return outcome }
    return try performStoreCall(call)
  }
}

extension ProgramExecutor {
  /// Performs a call that generates keys. `make` receives the keys to use, or nil if the store may generate them, and
  /// returns the keys that it used.
  func keyed<Result>(_ make: ([String]?) throws -> (Result, [String?])) throws -> Result {
    guard let leading else {
      let place = made.count
      made.append([])
      let (result, keys) = try make(nil)
      made[place] = keys.compactMap(\.self)
      return result
    }
    defer { taken += 1 }
    return try make(taken < leading.made.count ? leading.made[taken] : nil).0
  }
}

extension ProgramExecutor {
  /// Returns a description of a document without anything that depends on the clock.
  func text(_ document: Document) throws -> String {
    let body = try document.withBytes { String(decoding: $0, as: UTF8.self) }
    var parts = [document.collection ?? "-", document.key.map(named) ?? "-"]
    parts += [document.type ?? "-", document.version.map { "v\($0)" } ?? "-"]
    if mode.returnsRowIDs {
      parts += [
        document.rowID.map { "#\($0)" } ?? "#-", document.revision.map { "r\($0)" } ?? "r-",
      ]
    }
    if document.isPartial { parts.append("partial") }
    return parts.joined(separator: " ") + " " + body
  }

  func texts(_ documents: [Document]) throws -> Outcome { .lines(try documents.map(text)) }

  /// Returns a bag's index instead of its key, because keys differ between stores.
  func named(_ key: String) -> String {
    bags.firstIndex { $0.key == key }.map { "bag \($0)" } ?? key
  }
}

extension ProgramExecutor {
  /// Closes the store and opens it again, as the same object or as a new one on the same file.
  func reopen(asAnother: Bool) throws {
    endObservations()
    let closed = Result { try store.close() }
    // Buffered saves that a unique index rejects are lost, but the store is closed; inside a transaction, it is not.
    guard store.isClosed else { return try closed.get() }
    if !mode.isPersistent { reference.empty() }
    if asAnother {
      try openAnother()
    } else {
      try store.reopen()
    }
    if asAnother || !mode.isPersistent { bags = [] }
    try closed.get()
  }

  private func openAnother() throws {
    if isReference {
      let reference = reference
      store = try Store(opening: { reference.opened })
    } else {
      store = try mode.open(path, clock)
    }
    store.register(Figure.self)
  }

  /// Creates a backup and, if requested, continues with it instead of the store.
  func backup(opening: Bool) throws {
    files += 1
    let copy = folder + "/\(files).db"
    if isReference {
      // The reference store itself serves as the backup.
      try store.requireOutside()
      try store.flush()
      guard opening else { return }
      try store.close()
      if mode.isPersistent { try openAnother() } else { try reopen(asAnother: true) }
    } else {
      try store.backup(to: copy)
      guard opening else {
        try compare(copy)
        return
      }
      endObservations()
      try store.close()
      if mode.isPersistent {
        path = copy
        try openAnother()
      } else {
        try reopen(asAnother: true)
      }
    }
    bags = []
  }

  /// Checks that a backup has the same contents as the store.
  private func compare(_ copy: String) throws {
    let other = try Store(
      .file(copy), configuration: mode.configuration, engine: mode.engine(clock))
    defer { try? other.close() }
    let problems = try other.verify()
    guard problems.isEmpty else {
      throw StressTestFailure("a backup is damaged: \(problems.map(\.message))")
    }
    for collection in try store.collections() {
      let (a, b) = (try store[collection.name].fetch(), try other[collection.name].fetch())
      guard try a.map(text) == b.map(text) else {
        throw StressTestFailure("a backup has different documents in \(collection.name)")
      }
    }
  }

  func close() {
    endObservations()
    try? store.close()
  }
}

extension Store {
  /// Throws inside a transaction, as a backup does.
  fileprivate func requireOutside() throws {
    guard !isInTransaction else {
      throw StoreError(.invalidArgument, "This operation is not allowed inside a transaction")
    }
  }
}
