// SPDX-License-Identifier: MIT

import NanoDocument
public import NanoEngine

/// The settings of an engine on PostgreSQL. `Store.Configuration` has those that every engine shares.
///
/// ```swift
/// var postgres = PostgresConfiguration()
/// postgres.schema = "library"
/// postgres.layout = .partitions(8)
/// let store = try await Store.postgres("postgresql://db.example/books", engine: postgres)
/// ```
public struct PostgresConfiguration: Sendable {
  /// How the documents of a new collection are laid out. Existing collections keep their layout.
  public enum Layout: Sendable, Hashable {
    /// One table.
    case plain
    /// The specified number of tables, partitioned by a hash of the key. Unique indexes on fields are not
    /// possible.
    case partitions(Int)
    /// Distributed by key over the nodes of Citus, in the specified number of shards. Requires the Citus
    /// extension; experimental.
    case distributed(shards: Int)
  }

  /// The order in which the fields of documents are returned.
  public enum FieldOrder: Sendable, Hashable {
    /// Byte for byte as written, which takes the space of a second copy of each document.
    case asWritten
    /// The server's own order. Documents are otherwise the same.
    case any
  }

  /// The schema that holds the tables. Stores in different schemas of one database are independent of each
  /// other.
  public var schema = "nanostore"
  /// The layout of new collections.
  public var layout = Layout.plain
  /// The order in which the fields of documents are returned.
  public var fieldOrder = FieldOrder.asWritten
  /// The guarantee that a commit gives. ``Durability/fast`` is the same as ``Durability/normal``: the server has
  /// the commit in memory, and a crash of it may lose the last fractions of a second of commits.
  public var durability = Durability.full
  /// Whether the store is only read. Writes throw ``StoreError/Code/readOnly``; nothing is created, upgraded or deleted,
  /// so expired documents stay in the tables, though no call sees them.
  ///
  /// The store must exist, in the current format: otherwise opening throws ``StoreError/Code/cannotOpen`` or
  /// ``StoreError/Code/readOnly``.
  public var isReadOnly = false
  /// The maximum number of open connections. Further calls wait for one.
  public var maximumConnections = 8
  /// How long a call waits for a connection of the pool, and a transaction for a lock; at most 2,000,000 seconds, like
  /// the other durations.
  public var busyTimeout: Duration = .seconds(5)
  /// How long opening a connection may take, in whole seconds; at least two.
  public var connectTimeout: Duration = .seconds(10)
  /// A connection string of standbys for reads outside of transactions that accept stale data, such as
  /// `postgresql://a,b/books?target_session_attrs=prefer-standby`. `nil` if there are none.
  public var replicas: String?
  /// Whether statements stay prepared on the server. `nil` detects whether a pooler prevents it.
  public var keepsStatements: Bool?
  /// How often an observed store polls for commits by other connections; intervals below 10 milliseconds are
  /// raised to that.
  public var changeInterval: Duration = .milliseconds(250)

  /// The clock by which documents expire.
  package var clock: any StoreClock = SystemClock()

  /// Creates a configuration with the default values.
  public init() {}

  func validate() throws(StoreError) {
    guard !schema.isEmpty, schema.utf8.count <= Self.longestName, !schema.utf8.contains(0),
      !schema.hasPrefix("pg_")
    else {
      throw StoreError(
        .invalidName, "A schema name is empty, too long, contains a NUL or starts with 'pg_'",
        [.limit: "63 bytes"])
    }
    guard maximumConnections > 0 else {
      throw StoreError(
        .invalidArgument, "The pool needs at least one connection; increase 'maximumConnections'")
    }
    for (setting, duration) in [
      ("busyTimeout", busyTimeout), ("connectTimeout", connectTimeout),
      ("changeInterval", max(.zero, changeInterval)),
    ] {
      guard (.zero...Self.longestDuration).contains(duration) else {
        throw StoreError(
          .invalidArgument, "A setting of the configuration is out of range",
          [
            .operation: setting, .expected: "0 to \(Self.longestDuration)",
            .actual: "\(duration)",
          ])
      }
    }
    switch layout {
    case .partitions(let count), .distributed(shards: let count):
      guard (1...1_024).contains(count) else {
        throw StoreError(
          .invalidArgument, "A layout has 1 to 1024 partitions or shards",
          [.limit: "1024", .actual: "\(count)"])
      }
    case .plain: break
    }
  }

  /// The server stores `lock_timeout` as 32-bit milliseconds.
  private static let longestDuration = Duration.seconds(2_000_000)

  /// The maximum length of a name on the server, in bytes.
  static let longestName = 63
}
