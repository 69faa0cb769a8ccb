// SPDX-License-Identifier: MIT

import Foundation
@_exported import NanoDocument
@_exported import NanoEngine
@_exported import NanoQuery
@_exported import NanoSQLite
@_exported import NanoStoreCore

extension Store {
  /// Where a store is kept.
  public typealias Location = SQLiteConfiguration.Location
  /// How it is opened.
  public typealias Configuration = SQLiteConfiguration

  /// Opens a store on SQLite, and makes it if it is not there.
  ///
  /// ```swift
  /// let library = try Store(.file("~/library.db"))
  /// let scratch = try Store(.memory)
  /// ```
  ///
  /// - Parameters:
  ///   - location: In memory, in a temporary file that is gone when the store is closed, or a file;
  ///     its tilde is expanded and its folder made.
  ///   - configuration: The defaults suit most programs.
  /// - Throws: ``StoreError`` with ``StoreError/Code/notADatabase``,
  ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/cannotOpen``, or
  ///   ``StoreError/Code/wrongKey`` for a store that is encrypted. A file that is there stays as it is.
  public convenience init(
    _ location: Location, configuration: Configuration = Configuration()
  ) throws {
    try self.init(location, configuration: configuration) { $0 }
  }

  /// Opens a store on what a closure makes of the engine, now and whenever the store is reopened: one that
  /// changes documents on their way, for example.
  ///
  /// - Throws: As ``init(_:configuration:)-(Location,_)``, and what the closure throws.
  package convenience init(
    _ location: Location, configuration: Configuration = Configuration(),
    wrapping wrap: @escaping @Sendable (any Engine) throws -> any Engine
  ) throws {
    try self.init(
      file: location.file, indexTuning: configuration.tuning(at: location),
      logger: configuration.logger,
      warnsAboutUnknownFields: configuration.warnsAboutUnknownFields
    ) {
      try wrap(SQLiteEngine(location, configuration, observer: $0))
    }
    defaultCacheSize = configuration.documentCacheSize
    cacheLimit = configuration.documentCacheLimit
  }

  /// Opens the store that a setup names, makes it if it is not there, and makes its collections as
  /// the setup says.
  ///
  /// ```swift
  /// let store = try Store(StoreSetup(contentsOf: "library.json"))
  /// ```
  ///
  /// - Throws: As ``init(_:configuration:)-(Location,_)`` and ``NanoStoreCore/Store/apply(_:)-(StoreSetup)``.
  public convenience init(
    _ setup: StoreSetup, configuration: Configuration = Configuration()
  ) throws {
    try self.init(.file(setup.file), configuration: configuration)
    try apply(setup)
  }
}

extension SQLiteConfiguration.Location {
  /// The absolute path of the file; nil for stores without one.
  public var file: String? {
    guard case .file(let path) = self else { return nil }
    return URL(fileURLWithPath: NSString(string: path).expandingTildeInPath).standardizedFileURL
      .path
  }

  /// Whether there is such a file, which is not opened.
  public var exists: Bool { file.map { FileManager.default.fileExists(atPath: $0) } ?? false }
}

extension SQLiteConfiguration {
  /// Documents in memory are looked through in no time, and what is gone when the store is closed never
  /// pays for what was found out; a store that only reads cannot make indexes.
  fileprivate func tuning(at location: Location) -> IndexTuning {
    guard case .file = location, !isReadOnly else { return .off }
    return indexTuning
  }
}
