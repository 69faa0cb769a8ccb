// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoStorePostgres

/// Opens the database of a command, which is a file path or a URL.
enum StoreLocation {
  enum Access {
    /// The database must exist and is not modified.
    case reading
    /// The database must exist and may be modified.
    case changing
    /// The database is created if it does not exist.
    case creating
    /// The same, for a command that writes one large transaction.
    case loading

    var createsDatabase: Bool { self == .creating || self == .loading }
  }

  /// The functions that open databases by URL scheme, in lowercase.
  static let schemes: [String: @Sendable (_ url: String, Access) throws -> Store] = [
    "postgresql": openServer, "postgres": openServer,
  ]

  /// Opens a store on a server; `?schema=` selects the schema and is removed, because libpq does not support it.
  @Sendable private static func openServer(_ url: String, _ access: Access) throws -> Store {
    var engine = PostgresConfiguration()
    engine.isReadOnly = access == .reading
    var url = url
    if var parts = URLComponents(string: url), var items = parts.queryItems {
      if let schema = items.first(where: { $0.name == "schema" })?.value {
        engine.schema = schema
        items.removeAll { $0.name == "schema" }
        parts.queryItems = items.isEmpty ? nil : items
        url = parts.string ?? url
      }
    }
    return try Store.postgres(url, configuration: configuration, engine: engine)
  }

  /// Opens the store, runs a closure with it, and closes it, even on errors.
  static func withStore<Result>(
    at location: String, _ access: Access,
    configure: (inout SQLiteConfiguration) -> Void = { _ in }, _ work: (Store) throws -> Result
  ) throws -> Result {
    let isNew = access.createsDatabase && isFile(location) && !exists(location)
    let store = try openStore(at: location, access, configure: configure)
    do {
      let result = try work(store)
      try store.close()
      // Switches to a write-ahead log. If that fails, the next command that writes does.
      if isNew, access == .loading { try? openStore(at: location, .creating).close() }
      return result
    } catch {
      if isNew { try? store.discardIfUnused() }
      try? store.close()
      throw error
    }
  }

  static func isFile(_ location: String) -> Bool { scheme(of: location) == nil }

  /// Returns whether a file exists.
  ///
  /// Also returns true if the path cannot be checked, because opening it then reports the reason.
  static func exists(_ path: String) -> Bool {
    access(NSString(string: path).expandingTildeInPath, F_OK) == 0
      || ![ENOENT, ENOTDIR].contains(errno)
  }

  /// - Parameter configure: Adjusts the settings of SQLite; called for files only.
  static func openStore(
    at location: String, _ access: Access,
    configure: (inout SQLiteConfiguration) -> Void = { _ in }
  ) throws -> Store {
    guard let scheme = scheme(of: location) else {
      return try openFile(location, access, configure)
    }
    guard let open = schemes[scheme] else {
      throw StoreError(
        .unsupported, "No engine supports this URL scheme", [.capability: scheme])
    }
    return try open(location, access)
  }

  /// Returns the lowercase URL scheme, such as `postgresql` for `postgresql://localhost/library`, or nil for a file.
  private static func scheme(of location: String) -> String? {
    guard let end = location.range(of: "://")?.lowerBound, end > location.startIndex else {
      return nil
    }
    let scheme = location[..<end]
    let isScheme = scheme.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte)
        || "+-.".utf8.contains(byte)
    }
    return isScheme ? scheme.lowercased() : nil
  }

  private static var configuration: Store.Configuration {
    var configuration = Store.Configuration()
    // A single command is not a workload, and must not create indexes as a side effect.
    configuration.indexTuning = .off
    // Commands print their own notes about unknown fields.
    configuration.warnsAboutUnknownFields = false
    return configuration
  }

  /// The size of the memory map in bytes; arbitrary.
  ///
  /// Mapped pages count toward the memory limit of the process, and a command reads most pages once, so that a
  /// larger map is not faster.
  private static let mappedSize = 32 << 20

  private static func openFile(
    _ file: String, _ access: Access, _ configure: (inout SQLiteConfiguration) -> Void
  ) throws -> Store {
    let exists = exists(file)
    guard access.createsDatabase || exists else {
      throw CommandFailure(
        message: TerminalText.text(
          "There is no database at \(file) (nanostore import and nanostore put create one)"))
    }
    var engine = SQLiteConfiguration()
    engine.isReadOnly = access == .reading
    engine.mappedSize = mappedSize
    // A write-ahead log would contain the whole transaction, so that everything would be written twice. The pages of a
    // new file need no copies in a journal.
    if access == .loading, !exists { engine.journalMode = .delete }
    configure(&engine)
    func open() throws -> Store {
      try Store(.file(file), configuration: configuration, engine: engine)
    }
    do { return try open() } catch let error as StoreError
      where engine.isReadOnly && !engine.isImmutable && error[.engineCode] == hotJournal
    {
      // A killed import has left its journal, which only a program that may write can roll back. SQLite's own does, too.
      engine.isReadOnly = false
      guard (try? open().close()) != nil else { throw error }
      engine.isReadOnly = true
      return try open()
    }
  }

  /// SQLITE_READONLY_ROLLBACK.
  private static let hotJournal = "776"

  /// Returns a location for messages, without the password of a URL.
  static func shown(_ location: String) -> String {
    guard !isFile(location) else { return location }
    guard var parts = URLComponents(string: location) else { return "the server" }
    if parts.password != nil { parts.password = "***" }
    parts.queryItems = parts.queryItems.map { items in
      items.map { item in
        InspectedStore.secrets.contains(item.name.lowercased())
          ? URLQueryItem(name: item.name, value: "***") : item
      }
    }
    return parts.string ?? "the server"
  }
}
