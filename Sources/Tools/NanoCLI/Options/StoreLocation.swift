// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoStorePostgres

/// Where the database of a command is: a file, or what a URL leads to.
enum StoreLocation {
  enum Access {
    /// The database must be there and stays as it is.
    case reading
    /// The database must be there.
    case changing
    /// The database is made if it is not there.
    case creating
  }

  /// What opens the databases of a scheme, by the scheme in small letters.
  static let schemes: [String: @Sendable (_ url: String, Access) throws -> Store] = [
    "postgresql": openServer, "postgres": openServer,
  ]

  /// A store on a server; `?schema=` in the URL names the schema, which libpq does not know.
  @Sendable private static func openServer(_ url: String, _ access: Access) throws -> Store {
    var configuration = PostgresConfiguration()
    configuration.warnsAboutUnknownFields = false
    var url = url
    if var parts = URLComponents(string: url), var items = parts.queryItems {
      if let schema = items.first(where: { $0.name == "schema" })?.value {
        configuration.schema = schema
        items.removeAll { $0.name == "schema" }
        parts.queryItems = items.isEmpty ? nil : items
        url = parts.string ?? url
      }
    }
    return try Store.postgres(url, configuration: configuration)
  }

  /// Runs a block on the store, and closes it whatever happens.
  static func withStore<Result>(
    at location: String, _ access: Access,
    configure: (inout Store.Configuration) -> Void = { _ in }, _ work: (Store) throws -> Result
  ) throws -> Result {
    let isNew = access == .creating && isFile(location) && !exists(location)
    let store = try openStore(at: location, access, configure: configure)
    do {
      let result = try work(store)
      try store.close()
      return result
    } catch {
      if isNew { try? store.discardIfUnused() }
      try? store.close()
      throw error
    }
  }

  static func isFile(_ location: String) -> Bool { scheme(of: location) == nil }

  /// Whether a path leads to something. One that cannot be examined counts: opening it says why.
  static func exists(_ path: String) -> Bool {
    access(NSString(string: path).expandingTildeInPath, F_OK) == 0
      || ![ENOENT, ENOTDIR].contains(errno)
  }

  /// - Parameter configure: For files.
  static func openStore(
    at location: String, _ access: Access,
    configure: (inout Store.Configuration) -> Void = { _ in }
  ) throws -> Store {
    guard let scheme = scheme(of: location) else {
      return try openFile(location, access, configure)
    }
    guard let open = schemes[scheme] else {
      throw StoreError(
        .unsupported, "There is no engine for URLs of this scheme", [.capability: scheme])
    }
    return try open(location, access)
  }

  /// `postgresql` of `postgresql://localhost/library`; nil for a file.
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

  /// What is mapped of a file counts as memory of the process, where memory is limited. A command reads most
  /// pages once, so that mapping more makes it no faster. Arbitrary.
  private static let mappedSize = 32 << 20

  private static func openFile(
    _ file: String, _ access: Access, _ configure: (inout Store.Configuration) -> Void
  ) throws -> Store {
    guard access == .creating || exists(file) else {
      throw CommandFailure(
        message: TerminalText.text(
          "There is no database at \(file) (nanostore import and nanostore put make one)"))
    }
    var configuration = Store.Configuration()
    configuration.isReadOnly = access == .reading
    // One command is no workload, and must not leave indexes behind that nobody asked for.
    configuration.indexTuning = .off
    // Commands say so themselves where it matters.
    configuration.warnsAboutUnknownFields = false
    configuration.mappedSize = mappedSize
    configure(&configuration)
    return try Store(.file(file), configuration: configuration)
  }
}
