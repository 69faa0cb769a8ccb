// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import NanoStore
import NanoTesting

/// Plays calls on a store of its own and says what they gave.
///
/// What a store chooses by chance, the keys of new documents, is noted by the player that goes first and given
/// to the one that follows.
// @unchecked: one call at a time uses it; a call on another thread is waited for.
final class Player: @unchecked Sendable {
  let mode: StoreMode
  /// Whether it plays on the reference engine.
  let isReference: Bool
  private let folder: String
  private var files = 0
  private var path: String
  private let reference = Reference()

  var store: Store
  var bags: [Bag] = []
  private let leading: Player?
  /// The keys that each call made which makes some.
  private(set) var made: [[String]] = []
  private var taken = 0

  /// - Parameters:
  ///   - leading: The player that goes first; nil for that one.
  ///   - folder: Where files are made.
  init(_ mode: StoreMode, in folder: String, following leading: Player? = nil) throws {
    self.mode = mode
    self.folder = folder
    self.leading = leading
    isReference = leading != nil
    path = folder + "/0.db"
    if leading == nil {
      store = try mode.open(path)
    } else {
      let reference = reference
      store = try Store(opening: { reference.opened })
    }
    store.register(Figure.self)
  }

  /// Plays one call; an error of the store is an outcome.
  func play(_ call: Call) -> Outcome {
    do {
      return try outcome(of: call)
    } catch let error as StoreError {
      return .failed(error.code)
    } catch {
      return .text("another error: \(error)")
    }
  }

  private func outcome(of call: Call) throws -> Outcome {
    if let outcome = try writing(call) { return outcome }
    if let outcome = try asking(call) { return outcome }
    if let outcome = try shaping(call) { return outcome }
    if let outcome = try bagging(call) { return outcome }
    return try running(call)
  }
}

extension Player {
  /// Plays a call that makes keys: `make` gets those that it is to use, nil where it may choose, and gives those that
  /// it used.
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

extension Player {
  /// What is said of a document: nothing that depends on the clock.
  func text(_ document: Document) throws -> String {
    let body = try document.withBytes { String(decoding: $0, as: UTF8.self) }
    var parts = [document.collection ?? "-", document.key.map(named) ?? "-"]
    parts += [document.type ?? "-", document.version.map { "v\($0)" } ?? "-"]
    if mode.tellsRows {
      parts += [
        document.rowID.map { "#\($0)" } ?? "#-", document.revision.map { "r\($0)" } ?? "r-",
      ]
    }
    if document.isPartial { parts.append("partial") }
    return parts.joined(separator: " ") + " " + body
  }

  func texts(_ documents: [Document]) throws -> Outcome { .lines(try documents.map(text)) }

  /// A bag's key differs from store to store, its place among the bags of a program does not.
  func named(_ key: String) -> String {
    bags.firstIndex { $0.key == key }.map { "bag \($0)" } ?? key
  }
}

extension Player {
  /// Closes the store and opens it again: the same one, or another one on the same file.
  func reopen(asAnother: Bool) throws {
    try store.close()
    if !mode.survives { reference.empty() }
    if asAnother {
      try openAnother()
    } else {
      try store.reopen()
    }
    if asAnother || !mode.survives { bags = [] }
  }

  private func openAnother() throws {
    if isReference {
      let reference = reference
      store = try Store(opening: { reference.opened })
    } else {
      store = try mode.open(path)
    }
    store.register(Figure.self)
  }

  /// Makes a copy and, if asked to, goes on with it in place of the store.
  func backup(opening: Bool) throws {
    files += 1
    let copy = folder + "/\(files).db"
    if isReference {
      // What it holds is the copy.
      try store.requireOutside()
      try store.flush()
      guard opening else { return }
      try store.close()
      if mode.survives { try openAnother() } else { try reopen(asAnother: true) }
    } else {
      try store.backup(to: copy)
      guard opening else {
        try compare(copy)
        return
      }
      try store.close()
      if mode.survives {
        path = copy
        try openAnother()
      } else {
        try reopen(asAnother: true)
      }
    }
    bags = []
  }

  /// The copy of a store holds what the store holds.
  private func compare(_ copy: String) throws {
    let other = try Store(.file(copy), configuration: mode.configuration)
    defer { try? other.close() }
    let problems = try other.verify()
    guard problems.isEmpty else {
      throw TrialFailure("a backup is damaged: \(problems.map(\.message))")
    }
    for collection in try store.collections() {
      let (a, b) = (try store[collection.name].fetch(), try other[collection.name].fetch())
      guard try a.map(text) == b.map(text) else {
        throw TrialFailure("a backup holds other documents in \(collection.name)")
      }
    }
  }

  func close() { try? store.close() }
}

extension Store {
  /// As a backup does.
  fileprivate func requireOutside() throws {
    guard !isInTransaction else {
      throw StoreError(.invalidArgument, "This operation is not allowed inside a transaction")
    }
  }
}
