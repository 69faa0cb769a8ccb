// SPDX-License-Identifier: MIT

public import Logging
import NanoDocument
import NanoEngine

/// How a store on PostgreSQL is opened.
///
/// ```swift
/// var configuration = PostgresConfiguration()
/// configuration.schema = "library"
/// configuration.layout = .partitions(8)
/// let store = try await Store.postgres("postgresql://db.example/books", configuration: configuration)
/// ```
public struct PostgresConfiguration: Sendable {
  /// How the documents of a new collection are laid out. Collections that are there keep what they have.
  public enum Layout: Sendable, Hashable {
    /// One table.
    case plain
    /// So many tables, by a hash of the key. Unique indexes by fields are not possible then.
    case partitions(Int)
    /// Distributed over the nodes of Citus by key, in so many shards, where the server has it; experimental.
    case distributed(shards: Int)
  }

  /// Whether documents are given back with their fields in the order in which they were written.
  public enum FieldOrder: Sendable, Hashable {
    /// Byte for byte as they were stored, which takes the room of a second copy.
    case asWritten
    /// In the server's own order. Documents are otherwise the same.
    case any
  }

  /// When a commit counts as done.
  public enum Durability: Sendable, Hashable {
    /// When the server has it on its disk, and on those of its synchronous standbys.
    case full
    /// As soon as the server has it in memory: its crash may lose the last fractions of a second, and leaves
    /// nothing half-written.
    case normal
  }

  /// The schema that holds the tables. Two stores in two schemas of one database know nothing of each other.
  public var schema = "nanostore"
  public var layout = Layout.plain
  public var fieldOrder = FieldOrder.asWritten
  public var durability = Durability.full
  /// Connections that are open at most; calls beyond wait for one.
  public var maximumConnections = 8
  /// How long a call waits for a connection of the pool, and a transaction for another one's locks.
  public var busyTimeout: Duration = .seconds(5)
  /// How long opening a connection may take, in whole seconds; at least two.
  public var connectTimeout: Duration = .seconds(10)
  /// Where reads outside of transactions may go that can do with a state of some time ago: a connection
  /// string of standbys, such as `postgresql://a,b/books?target_session_attrs=prefer-standby`. Nil for none.
  public var replicas: String?
  /// Whether statements stay prepared on the server. Nil finds out: behind a pooler they do not.
  public var keepsStatements: Bool?
  /// How often an observed store asks what others have committed.
  public var changeInterval: Duration = .milliseconds(250)
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

  func validate() throws(StoreError) {
    guard !schema.isEmpty, schema.utf8.count <= Self.longestName, !schema.utf8.contains(0),
      !schema.hasPrefix("pg_")
    else {
      throw StoreError(.invalidName, "A schema cannot have this name", [.limit: "63 bytes"])
    }
    guard maximumConnections > 0 else {
      throw StoreError(.invalidArgument, "A pool needs a connection")
    }
    switch layout {
    case .partitions(let count), .distributed(shards: let count):
      guard (1...1_024).contains(count) else {
        throw StoreError(
          .invalidArgument, "A layout has this many parts at most",
          [.limit: "1024", .actual: "\(count)"])
      }
    case .plain: break
    }
  }

  /// Bytes that the server keeps of a name.
  static let longestName = 63
}

extension Duration {
  var milliseconds: Int64 {
    let parts = components
    return parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
  }
}
