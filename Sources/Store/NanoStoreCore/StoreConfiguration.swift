// SPDX-License-Identifier: MIT

public import Logging
import NanoDocument
public import NanoEngine

extension Store {
  /// The settings of a store that do not depend on its engine. An engine has settings of its own,
  /// such as `SQLiteConfiguration`.
  ///
  /// ```swift
  /// var configuration = Store.Configuration()
  /// configuration.documentCacheSize = 1_000
  /// let store = try Store(.file("~/library.db"), configuration: configuration)
  /// ```
  public struct Configuration: Sendable {
    /// The number of documents that each collection keeps in memory; nil for no document caches. See
    /// ``DocumentCollection/cacheSize``.
    ///
    /// Independent of the engine's own cache of pages.
    public var documentCacheSize: Int?
    /// The maximum memory, in bytes, for cached documents of all collections.
    public var documentCacheLimit = DocumentCache.defaultLimit
    /// How the store manages adaptive indexes.
    ///
    /// It applies to writable files on SQLite. Elsewhere index tuning is ``IndexTuning/off``: scans
    /// in memory are fast enough, temporary stores lose what was learned, and the engine for
    /// PostgreSQL does not report the queries that it executes.
    public var indexTuning: IndexTuning = .automatic
    /// Whether queries report fields that no document of the collection has, such as `emial` where
    /// documents have `email`.
    ///
    /// Each such field is logged once per collection, as a warning with the most similar field. On
    /// in debug builds; off in release builds, where it costs nothing.
    ///
    /// Empty collections, fields with a default, declared indexes, and the properties of models are
    /// not reported. The warning goes to ``logger``, or to the program's logging system if
    /// ``logger`` is the default, which discards everything. `explain()` lists unknown fields either
    /// way. Encrypted stores log no names.
    public var warnsAboutUnknownFields = BuildMode.isDebug
    /// The destination of warnings and of what index tuning does; on SQLite also of executed
    /// statements, at the level `trace`. The default discards everything.
    public var logger = Logger(label: "NanoStore") { _ in SwiftLogNoOpLogHandler() }

    /// Creates a configuration with the default settings.
    public init() {}
  }
}
