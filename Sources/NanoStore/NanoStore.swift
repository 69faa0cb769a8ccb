// SPDX-License-Identifier: MIT

@_exported import NanoDocument
@_exported import NanoEngine
@_exported import NanoQuery
public import NanoSQLite
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
  ///   ``StoreError/Code/newerFormat`` or ``StoreError/Code/cannotOpen``. A file that is there stays
  ///   as it is.
  public convenience init(
    _ location: Location, configuration: Configuration = Configuration()
  ) throws {
    try self.init(indexTuning: configuration.tuning(at: location), logger: configuration.logger) {
      try SQLiteEngine(location, configuration, observer: $0)
    }
  }
}

extension SQLiteConfiguration {
  /// Documents in memory are looked through in no time, and what is gone when the store is closed never
  /// pays for what was found out; a store that only reads cannot make indexes.
  fileprivate func tuning(at location: Location) -> IndexTuning {
    guard case .file = location, !isReadOnly else { return .off }
    return indexTuning
  }
}
