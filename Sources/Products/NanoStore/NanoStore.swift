// SPDX-License-Identifier: MIT

import Foundation
@_exported import NanoBags
@_exported import NanoCopying
@_exported import NanoDocument
@_exported import NanoEngine
@_exported import NanoQuery
@_exported import NanoSQLite
@_exported import NanoStoreCore

extension Store {
  /// The location of a store.
  public typealias Location = SQLiteConfiguration.Location

  /// Opens a store on SQLite, creating it if needed.
  ///
  /// ```swift
  /// let library = try Store(.file("~/library.db"))
  /// let scratch = try Store(.memory)
  /// ```
  ///
  /// - Parameters:
  ///   - location: In memory, in a temporary file that is deleted when the store is closed, or in a
  ///     file. A leading tilde in its path is expanded, and its folder is created.
  ///   - configuration: The settings of the store. The defaults suit most programs.
  ///   - engine: The settings of SQLite. The defaults suit most programs.
  /// - Throws: ``StoreError`` with ``StoreError/Code/notADatabase``,
  ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/cannotOpen``, or
  ///   ``StoreError/Code/wrongKey`` for an encrypted store. An existing file is unchanged.
  public convenience init(
    _ location: Location, configuration: Configuration = Configuration(),
    engine: SQLiteConfiguration = SQLiteConfiguration()
  ) throws {
    try self.init(location, configuration: configuration, engine: engine) { $0 }
  }

  /// Opens a store on an engine that the closure creates from the SQLite engine, for example one
  /// that transforms documents. The closure is also called by each `reopen()`.
  ///
  /// - Throws: The errors of ``init(_:configuration:engine:)-(Location,_,_)``, and an error thrown by the
  ///   closure.
  package convenience init(
    _ location: Location, configuration: Configuration = Configuration(),
    engine: SQLiteConfiguration = SQLiteConfiguration(),
    wrapping wrap: @escaping @Sendable (any Engine) throws -> any Engine
  ) throws {
    let file = location.file
    try self.init(
      configuration, references: BagReferences(), file: file,
      tunesIndexes: file != nil && !engine.isReadOnly
    ) {
      try wrap(SQLiteEngine(location, engine, logger: configuration.logger, observer: $0))
    }
  }

  /// Opens the store that a setup names, and applies the setup to its collections.
  ///
  /// The store is created if needed.
  ///
  /// ```swift
  /// let store = try Store(StoreSetup(contentsOf: "library.json"))
  /// ```
  ///
  /// - Throws: The errors of ``init(_:configuration:engine:)-(Location,_,_)`` and
  ///   ``NanoStoreCore/Store/apply(_:)-(StoreSetup)``.
  public convenience init(
    _ setup: StoreSetup, configuration: Configuration = Configuration(),
    engine: SQLiteConfiguration = SQLiteConfiguration()
  ) throws {
    try self.init(.file(setup.file), configuration: configuration, engine: engine)
    try apply(setup)
  }
}

extension SQLiteConfiguration.Location {
  /// The absolute path of the file; nil for stores without a file.
  public var file: String? {
    guard case .file(let path) = self else { return nil }
    if Self.isStandardized(path) { return path }
    return URL(fileURLWithPath: NSString(string: path).expandingTildeInPath).standardizedFileURL
      .path
  }

  /// Whether Foundation would return the path as it is, for which it takes an eighth of the time of opening the first
  /// store of a process. If false, it has to be asked.
  private static func isStandardized(_ path: String) -> Bool {
    let bytes = path.utf8
    // Foundation shortens the names of automounted folders.
    guard bytes.first == UInt8(ascii: "/"), !bytes.starts(with: "/private".utf8),
      !bytes.starts(with: "/var/automount".utf8)
    else { return false }
    // Of the current name.
    var (length, dots) = (0, 0)
    var isName: Bool { length > 0 && (dots < length || dots > 2) }
    for byte in bytes.dropFirst() {
      guard byte < 0x80, byte != 0 else { return false }
      if byte == UInt8(ascii: "/") {
        guard isName else { return false }
        (length, dots) = (0, 0)
      } else {
        length += 1
        if byte == UInt8(ascii: ".") { dots += 1 }
      }
    }
    return isName
  }

  /// Whether the file exists. It is not opened.
  public var exists: Bool { file.map { FileManager.default.fileExists(atPath: $0) } ?? false }
}
