// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// The database that every command works on.
struct DatabaseOptions: ParsableArguments {
  @Argument(help: "The database file.", completion: .file())
  var database: String

  @Flag(
    help: ArgumentHelp(
      "Read a file that nothing changes meanwhile without locks, such as one on a read-only medium.",
      discussion:
        "If another program does change it, results are wrong. Only for commands that read."))
  var immutable = false

  // FailureReport looks for it; here it is permitted.
  @Flag(help: .hidden)
  var debug = false

  typealias Access = StoreLocation.Access

  /// Runs a block on the store, and closes it whatever happens.
  func withStore<Result>(
    _ access: Access, configure: (inout Store.Configuration) -> Void = { _ in },
    _ work: (Store) throws -> Result
  ) throws -> Result {
    guard !immutable || (access == .reading && StoreLocation.isFile(database)) else {
      throw ValidationError("--immutable is for commands that only read a file.")
    }
    return try StoreLocation.withStore(
      at: database, access,
      configure: { configuration in
        configure(&configuration)
        configuration.isImmutable = immutable
      }, work)
  }
}

/// A collection of a database.
struct CollectionOptions: ParsableArguments {
  @OptionGroup var database: DatabaseOptions

  @Argument(help: "The collection.")
  var collection: String

  /// Runs a block on the collection. One that is not there is empty, but whoever typed its name
  /// wants to know.
  func withCollection<Result>(
    _ access: DatabaseOptions.Access, _ work: (DocumentCollection) throws -> Result
  ) throws -> Result {
    try database.withStore(access) { store in
      if access == .reading { try Self.noteMissing(collection, in: store) }
      return try work(store[collection])
    }
  }

  /// As ``withCollection(_:_:)`` for changes that make no sense without documents.
  func withExistingCollection<Result>(_ work: (DocumentCollection) throws -> Result) throws
    -> Result
  {
    try database.withStore(.changing) { store in
      if let note = try Self.missing(collection, in: store) { throw CommandFailure(message: note) }
      return try work(store[collection])
    }
  }

  /// Says on the standard error that a collection does not exist.
  static func noteMissing(_ name: String, in store: Store) throws {
    if let note = try missing(name, in: store) { Diagnostics.print("note: \(note)") }
  }

  private static func missing(_ name: String, in store: Store) throws -> String? {
    let names = try store.collections().map(\.name)
    // SQLite's table names, and so ours, ignore the case of ASCII letters.
    guard !names.contains(where: { $0.folded == name.folded }) else { return nil }
    let known = names.isEmpty ? "none yet" : names.joined(separator: ", ")
    return TerminalText.text("There is no collection \(name); there are: \(known)")
  }
}
