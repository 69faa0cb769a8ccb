// SPDX-License-Identifier: MIT

public import Foundation
import NanoDocument
public import NanoEngine

/// The settings of a SQLite database. `Store.Configuration` has those that every engine shares.
///
/// ```swift
/// var sqlite = SQLiteConfiguration()
/// sqlite.durability = .full
/// let store = try Store(.file("~/library.db"), engine: sqlite)
/// ```
///
/// `Store.statistics()` reports the settings as read back from the database.
public struct SQLiteConfiguration: Sendable {
  /// The location of a database.
  public enum Location: Sendable, Hashable {
    /// A database in memory, which is discarded when the store is closed.
    case memory
    /// A temporary file, which is deleted when the store is closed or the process ends, even abnormally.
    case temporary
    /// A file at a path. Opening a URL given as a path throws ``StoreError/Code/invalidArgument``, unless there is such a
    /// file.
    case file(String)

    /// Returns the location of a file URL.
    ///
    /// A URL with a different scheme becomes an empty path: opening it throws
    /// ``StoreError/Code/invalidArgument``.
    public static func file(_ url: URL) -> Location {
      .file(url.isFileURL ? url.path(percentEncoded: false) : "")
    }
  }

  /// The SQLite journal mode.
  public enum JournalMode: String, Sendable, Hashable, CaseIterable {
    /// Writes changes to a separate write-ahead log until they are checkpointed into the file.
    case wal
    /// Keeps overwritten pages in a separate journal, which is deleted to commit.
    case delete
    /// Like `delete`, but truncates the journal instead.
    case truncate
    /// Like `delete`, but overwrites the header of the journal instead.
    case persist
    /// Keeps overwritten pages in memory: killing the process during a write corrupts the file.
    case memory
    /// Keeps no journal: a write that fails or is rolled back corrupts the file. For files that can be
    /// re-created.
    case off
  }

  /// The text encoding of the file.
  public enum TextEncoding: String, Sendable, Hashable, CaseIterable {
    /// UTF-8.
    case utf8 = "UTF-8"
    /// UTF-16, little-endian.
    case utf16 = "UTF-16le"
  }

  /// The location of SQLite's temporary data, such as large sorts.
  public enum TemporaryStorage: String, Sendable, Hashable, CaseIterable {
    /// SQLite's compile-time default.
    case `default`
    /// Temporary files.
    case file
    /// Memory.
    case memory
  }

  /// The guarantee that a commit gives.
  ///
  /// With a rollback journal, ``Durability/normal`` is the same as ``Durability/full``, because SQLite offers no
  /// level between that and a corrupted file.
  public var durability: Durability = .normal
  /// The SQLite journal mode.
  ///
  /// Only in WAL mode, the default, can readers work concurrently with the writer. In-memory and temporary
  /// stores have one connection and keep their journal in memory.
  public var journalMode: JournalMode = .wal
  /// The size of the page cache of each connection, in bytes.
  public var pageCacheSize = 16 << 20
  /// The page size in bytes, a power of two from 512 to 65,536. Applies when the file is created.
  public var pageSize = 4096
  /// The maximum number of bytes of the file that are memory-mapped instead of cached.
  public var mappedSize = 1 << 30
  /// How long a call waits for a lock of another process.
  public var busyTimeout: Duration = .seconds(5)
  /// The text encoding. Applies when the file is created.
  ///
  /// UTF-16 does not preserve U+FFFE and U+FFFF: a document or a name that contains one is rejected.
  public var encoding: TextEncoding = .utf8
  /// The location of temporary data that exceeds the cache: large sorts and groups, statement journals, and the
  /// copy made while compacting.
  ///
  /// With files, which are anonymous and deleted with the process, a sort needs no more memory than the cache,
  /// however large it is. In memory, it needs several times the size of the sorted data.
  public var temporaryStorage: TemporaryStorage = .file
  /// Whether new files, the files that SQLite keeps next to them, and backups are accessible only to their owner
  /// (mode 0600).
  ///
  /// Otherwise new files have mode 0644, restricted by the process's `umask`. An existing file keeps its
  /// permissions, and backups have the permissions of their source.
  public var isPrivate = false
  /// Whether to open the store without writing anything, not even internal tables.
  ///
  /// A file in WAL mode still needs a log: if there is none, opening creates an empty one, which closing
  /// removes.
  ///
  /// A user without write access to the file and its folder can read a file in WAL mode only while its owner has
  /// it open; otherwise opening throws ``StoreError/Code/cannotOpen``.
  public var isReadOnly = false
  /// Whether to open the file without locks and without a log, for a file that nothing changes while it is open,
  /// such as one on a read-only medium. Implies ``isReadOnly``.
  ///
  /// If another program does change the file, reads return wrong results or crash the process. Opening throws
  /// ``StoreError/Code/cannotOpen`` if there is a log with transactions for the file. Do not also open the same
  /// file normally in the same process.
  public var isImmutable = false
  /// The maximum size of the file in bytes; a write that would exceed it fails with ``StoreError/Code/full``.
  public var maximumSize: Int?
  /// The maximum number of concurrent read connections.
  public var maximumReaders = 5
  /// The interval at which commits of other connections and processes are polled while there are observers. Each
  /// poll takes a few microseconds.
  public var changeInterval: Duration = .milliseconds(100)
  /// Whether fields are read with the store's own scanner instead of SQLite's `json_extract`; the results are
  /// the same.
  public var usesFastFieldAccess = true
  /// Whether user-supplied SQL may write to the store's internal tables, change their definitions, and set
  /// pragmas.
  ///
  /// ``Engine/verify()`` can at best detect the resulting damage, not repair it.
  public var allowsInternalWrites = false

  /// The clock by which documents expire.
  package var clock: any StoreClock = SystemClock()

  /// The busy timeout as SQLite wants it.
  var busyMilliseconds: Int32 {
    Int32(clamping: Int((busyTimeout.inSeconds * 1_000).rounded()))
  }

  /// Creates a configuration with the default settings.
  public init() {}

  /// The configuration with implied settings applied.
  var withImplied: SQLiteConfiguration {
    var configuration = self
    if isImmutable { configuration.isReadOnly = true }
    return configuration
  }

  /// - Throws: ``StoreError/Code/invalidArgument`` for values that SQLite would silently ignore.
  func validate() throws(StoreError) {
    try require(
      (512...65_536).contains(pageSize) && pageSize.nonzeroBitCount == 1, "pageSize", "\(pageSize)",
      "a power of two from 512 to 65536")
    try require(pageCacheSize >= 0, "pageCacheSize", "\(pageCacheSize)", "0 or more")
    try require(mappedSize >= 0, "mappedSize", "\(mappedSize)", "0 or more")
    try require(
      (.zero...Self.longestTimeout).contains(busyTimeout), "busyTimeout", "\(busyTimeout)",
      "0 to \(Self.longestTimeout)")
    try require(
      (.milliseconds(1)...Self.longestTimeout).contains(changeInterval), "changeInterval",
      "\(changeInterval)", "0.001 to \(Self.longestTimeout)")
    try require(maximumSize ?? 1 > 0, "maximumSize", "\(maximumSize ?? 0)", "1 or more")
    try require(maximumReaders > 0, "maximumReaders", "\(maximumReaders)", "1 or more")
  }

  private func require(
    _ holds: Bool, _ setting: String, _ actual: String, _ expected: String
  ) throws(StoreError) {
    guard !holds else { return }
    throw StoreError(
      .invalidArgument, "A setting of the configuration is out of range",
      [.operation: setting, .expected: expected, .actual: actual])
  }

  /// SQLite stores the timeout as 32-bit milliseconds.
  private static let longestTimeout = Duration.seconds(2_000_000)
}
