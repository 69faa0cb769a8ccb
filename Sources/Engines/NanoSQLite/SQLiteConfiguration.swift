// SPDX-License-Identifier: MIT

public import Foundation
public import Logging
import NanoDocument
public import NanoEngine

/// How a SQLite database is opened. Every setting is read back from the database by
/// ``Engine/statistics()``.
public struct SQLiteConfiguration: Sendable {
  /// Where a database is kept.
  public enum Location: Sendable, Hashable {
    case memory
    /// A file that is gone when the store is closed, or the process ends however it ends.
    case temporary
    case file(String)

    /// A file at a URL. One that is no `file:` URL is an empty path: opening it throws ``StoreError/Code/invalidArgument``.
    public static func file(_ url: URL) -> Location {
      .file(url.isFileURL ? url.path(percentEncoded: false) : "")
    }
  }

  /// What a commit waits for.
  public enum Durability: String, Sendable, Hashable, CaseIterable {
    /// Nothing: a power failure may damage the file; a killed process does not.
    case fast
    /// Survives a killed process; after a power failure the last commits may be missing, but what
    /// is there is a prefix of what was written. With a rollback journal it is ``full``, since SQLite offers nothing
    /// between that and a damaged file.
    case normal
    /// Every commit that was acknowledged survives a power failure.
    case full
  }

  /// How SQLite keeps what a transaction changes until it is committed.
  public enum JournalMode: String, Sendable, Hashable, CaseIterable {
    /// Keeps changes beside the file until they are merged.
    case wal
    /// Keep what is overwritten beside the file until a commit.
    case delete, truncate, persist
    /// Keeps what is overwritten in memory: a process that is killed while it writes damages the
    /// file.
    case memory
    /// Keeps nothing: a write that fails or is rolled back leaves the file damaged. For files that
    /// can be made again.
    case off
  }

  /// How the file keeps texts.
  public enum TextEncoding: String, Sendable, Hashable, CaseIterable {
    case utf8 = "UTF-8"
    case utf16 = "UTF-16le"
  }

  /// Where SQLite keeps what it needs for a moment, such as large sorts.
  public enum TemporaryStorage: String, Sendable, Hashable, CaseIterable {
    case `default`, file, memory
  }

  /// What a commit waits for.
  public var durability: Durability = .normal
  /// Readers run beside the writer only in WAL mode, the default. Memory and temporary stores have
  /// one connection and keep their journal in memory.
  public var journalMode: JournalMode = .wal
  /// Bytes of page cache for each connection.
  public var cacheSize = 16 << 20
  /// Bytes, a power of two from 512 to 65,536; counts when the file is made.
  public var pageSize = 4096
  /// Bytes of the file that are read through the address space instead of the cache.
  public var mappedSize = 1 << 30
  /// Seconds that a call waits for a lock of another process.
  public var busyTimeout = 5.0
  /// Counts when the file is made.
  public var encoding: TextEncoding = .utf8
  /// Where SQLite keeps what it needs for a moment and has no room for in its cache: large sorts and groups,
  /// what it would take to undo a statement, the copy that compacting makes. In files, without a name and gone
  /// with the process, a sort takes the memory of the cache however much it sorts. In memory it
  /// takes several times the size of what is sorted.
  public var temporaryStorage: TemporaryStorage = .file
  /// Whether a file that is made, what SQLite keeps beside it, and backups are for their owner alone (mode 0600).
  /// Otherwise they are what the process's `umask` leaves of 0644. A file that is there keeps its permissions, and
  /// backups have those of their source.
  public var isPrivate = false
  /// Opens without writing anything, not even internal tables. A file in WAL mode still takes a log beside it: if
  /// there is none, opening creates an empty one, which closing removes.
  ///
  /// A user who may not write to the file and its folder can read a file in WAL mode only while its owner has it
  /// open; otherwise opening throws ``StoreError/Code/cannotOpen``.
  public var isReadOnly = false
  /// Opens a file that nothing changes while it is open, such as one on a read-only medium, without locks and
  /// without a log. Implies ``isReadOnly``.
  ///
  /// If another program does change the file, reads return wrong results or end the process. Opening throws
  /// ``StoreError/Code/cannotOpen`` if a log with transactions lies beside the file. Do not open the same file
  /// normally in the same process.
  public var isImmutable = false
  /// Bytes the file may grow to; a write beyond fails with ``StoreError/Code/full``.
  public var maximumSize: Int?
  /// Connections that may read at once.
  public var maximumReaders = 5
  /// Seconds between two looks for commits of other connections and processes while something is
  /// observed. Each look takes some microseconds.
  public var changeInterval = 0.1
  /// Reads fields with our scanner in place of SQLite's `json_extract`; the answers are the same.
  public var usesFastFieldAccess = true
  /// What the store does about indexes that nobody declared. Counts for files that can be written to; stores
  /// in memory and in temporary files have it off.
  public var indexTuning: IndexTuning = .automatic
  /// Whether SQL of your own may write to tables of the store's own, change their definitions and set
  /// pragmas. What that damages, ``Engine/verify()`` finds at best.
  public var allowsInternalWrites = false
  /// The number of documents that each collection keeps in memory, see
  /// `DocumentCollection.cacheSize`; not a matter of SQLite, whose cache is ``cacheSize``.
  public var documentCacheSize = -1
  /// Bytes of memory that such documents of all collections may take.
  public var documentCacheLimit = 64 << 20
  /// Whether queries report fields that no document of the collection has, such as `emial` where documents have
  /// `email`: each is logged once for a collection, as a warning with the most similar field. On in debug builds,
  /// off in release builds, where it costs nothing.
  ///
  /// An empty collection, fields with a default, declared indexes and the properties of models are not reported.
  /// The warning goes to ``logger``; to the logging system of the program if that is the default one, which drops
  /// everything. `explain()` lists unknown fields either way. Encrypted stores log no names.
  public var warnsAboutUnknownFields = BuildMode.isDebug
  public var logger = Logger(label: "NanoStore") { _ in SwiftLogNoOpLogHandler() }

  public init() {}

  /// The same with the settings that others imply.
  var withImplied: SQLiteConfiguration {
    var configuration = self
    if isImmutable { configuration.isReadOnly = true }
    return configuration
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` for what SQLite would pass over in silence.
  func validate() throws(StoreError) {
    try require(
      (512...65_536).contains(pageSize) && pageSize.nonzeroBitCount == 1, "pageSize", "\(pageSize)",
      "a power of two from 512 to 65536")
    try require(cacheSize >= 0, "cacheSize", "\(cacheSize)", "0 or more")
    try require(mappedSize >= 0, "mappedSize", "\(mappedSize)", "0 or more")
    try require(
      (0...Self.longestTimeout).contains(busyTimeout), "busyTimeout", "\(busyTimeout)",
      "0 to \(Self.longestTimeout) seconds")
    try require(
      (0.001...Self.longestTimeout).contains(changeInterval), "changeInterval",
      "\(changeInterval)", "0.001 to \(Self.longestTimeout) seconds")
    try require(maximumSize ?? 1 > 0, "maximumSize", "\(maximumSize ?? 0)", "1 or more")
    try require(maximumReaders > 0, "maximumReaders", "\(maximumReaders)", "1 or more")
  }

  private func require(
    _ holds: Bool, _ setting: String, _ actual: String, _ expected: String
  ) throws(StoreError) {
    guard !holds else { return }
    throw StoreError(
      .invalidArgument, "A setting of the configuration is out of its range",
      [.operation: setting, .expected: expected, .actual: actual])
  }

  /// SQLite counts milliseconds in 32 bits.
  private static let longestTimeout = 2_000_000.0
}
