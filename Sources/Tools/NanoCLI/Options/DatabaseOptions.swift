// SPDX-License-Identifier: MIT

import ArgumentParser
import NanoStore

/// The database argument that all commands share.
struct DatabaseOptions: ParsableArguments {
  @Argument(help: "The database: a file, or a postgresql:// URL.", completion: .file())
  var database: String

  @Flag(
    help: ArgumentHelp(
      "Read the file without locks; only for a file that no program modifies, as on read-only media.",
      discussion:
        "If another program modifies the file, results are wrong. Only for commands that read."))
  var immutable = false

  // Declared so that the parser accepts it; FailureReport reads it.
  @Flag(help: .hidden)
  var debug = false

  typealias Access = StoreLocation.Access

  /// Opens the store, runs a closure with it, and closes it, even on errors.
  func withStore<Result>(
    _ access: Access, configure: (inout SQLiteConfiguration) -> Void = { _ in },
    _ work: (Store) throws -> Result
  ) throws -> Result {
    guard !immutable || (access == .reading && StoreLocation.isFile(database)) else {
      throw ValidationError("--immutable requires a file and a command that only reads")
    }
    return try StoreLocation.withStore(
      at: database, access,
      configure: { engine in
        configure(&engine)
        engine.isImmutable = immutable
      }, work)
  }
}

/// The database and collection arguments.
struct CollectionOptions: ParsableArguments {
  @OptionGroup var database: DatabaseOptions

  @Argument(help: "The collection.")
  var collection: String

  /// Runs a closure with the collection.
  ///
  /// A collection that does not exist is empty when read; a note then reports the possible typo.
  func withCollection<Result>(
    _ access: DatabaseOptions.Access, _ work: (DocumentCollection) throws -> Result
  ) throws -> Result {
    try database.withStore(access) { store in
      if access == .reading { try Self.noteMissing(collection, in: store) }
      return try work(store[collection])
    }
  }

  /// Runs a closure that modifies the collection, which must exist.
  func withExistingCollection<Result>(_ work: (DocumentCollection) throws -> Result) throws
    -> Result
  {
    try database.withStore(.changing) { store in
      try Self.requireExisting([ExactName(collection)], in: store)
      return try work(store[collection])
    }
  }

  /// Prints a note to standard error if a collection does not exist.
  static func noteMissing(_ name: String, in store: Store) throws {
    if let note = try missing(name, in: store) { Diagnostics.print("note: \(note)") }
  }

  /// Prints a note for each collection that does not exist.
  static func noteMissing(_ names: Set<ExactName>, in store: Store) throws {
    for name in names.sorted() { try noteMissing(name.text, in: store) }
  }

  /// - Throws: `CommandFailure` if a collection does not exist. To a command that changes documents, a misspelled one
  ///   would be empty, and `NOT IN` it true.
  static func requireExisting(_ names: Set<ExactName>, in store: Store) throws {
    for name in names.sorted() {
      if let note = try missing(name.text, in: store) { throw CommandFailure(message: note) }
    }
  }

  private static func missing(_ name: String, in store: Store) throws -> String? {
    // The store's error names the calls to use instead.
    guard InternalCollection(named: name) == nil else { return nil }
    let names = try store.collections().map(\.name)
    // Collection names, like SQLite's table names, are case-insensitive for ASCII letters.
    guard !names.contains(where: { $0.folded == name.folded }) else { return nil }
    let existing = names.isEmpty ? "none" : names.joined(separator: ", ")
    return TerminalText.text("There is no collection '\(name)'; existing collections: \(existing)")
  }
}
