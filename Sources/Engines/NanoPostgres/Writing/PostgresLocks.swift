// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine

/// The advisory locks of write transactions, which the server keeps in memory.
///
/// A transaction that uses single documents of a collection shares the collection's lock with others, and one that
/// runs queries or changes definitions has it alone. Documents that exist are locked by their rows. A key is locked by a
/// transaction that may insert a document with it, or that found none: there is no row to lock.
///
/// The numbers are hashes, so unrelated transactions may share a lock, and then only wait for each other.
struct PostgresLocks: Sendable {
  let schema: String

  func collection(_ folded: ExactName) -> Int64 { number("collection", folded.text) }
  func key(_ key: DocumentKey, of folded: ExactName) -> Int64 {
    number("key", folded.text + "\u{0}" + key.description)
  }
  var metadata: Int64 { number("metadata", "") }
  /// The lock that is held while indexes of a collection are built concurrently.
  func builds(of folded: ExactName) -> Int64 { number("builds", folded.text) }
  /// The lock that is held while an index is built concurrently.
  func build(_ sqlName: String) -> Int64 { number("build", sqlName) }
  /// The lock that is held while the record of a concurrent build is read or written.
  func buildRecord(_ sqlName: String) -> Int64 { number("build record", sqlName) }

  private func number(_ kind: String, _ name: String) -> Int64 {
    Int64(bitPattern: PostgresNames.hash("nanostore\u{0}\(schema)\u{0}\(kind)\u{0}\(name)"))
  }

  /// Acquires locks in the given order.
  static func acquire(_ numbers: [Int64]) -> PostgresStatement {
    if numbers.count == 1 {
      return PostgresStatement("SELECT pg_advisory_xact_lock($1)", [.int(numbers[0])])
    }
    return PostgresStatement(
      "SELECT pg_advisory_xact_lock(n) FROM unnest($1::bigint[]) AS n", [.ints(numbers)])
  }

  static func share(_ number: Int64) -> PostgresStatement {
    PostgresStatement("SELECT pg_advisory_xact_lock_shared($1)", [.int(number)])
  }

  /// Acquires locks for the session as well, which ``release(_:isShared:)`` ends.
  static func acquireForSession(_ numbers: [Int64]) -> PostgresStatement {
    PostgresStatement(
      "SELECT pg_advisory_lock(n), pg_advisory_xact_lock(n) FROM unnest($1::bigint[]) AS n",
      [.ints(numbers)])
  }

  static func shareForSession(_ number: Int64) -> PostgresStatement {
    PostgresStatement(
      "SELECT pg_advisory_lock_shared($1), pg_advisory_xact_lock_shared($1)", [.int(number)])
  }

  /// Acquires locks for the transaction unless that would take waiting, which it does not for locks of the session.
  static func tryAgain(_ numbers: [Int64], isShared: Bool) -> PostgresStatement {
    PostgresStatement(
      "SELECT pg_try_advisory_xact_lock\(isShared ? "_shared" : "")(n) FROM unnest($1::bigint[]) AS n",
      [.ints(numbers)])
  }

  /// Releases locks of the session, each as often as it was acquired.
  static func release(_ numbers: [Int64], isShared: Bool) -> PostgresStatement {
    PostgresStatement(
      "SELECT pg_advisory_unlock\(isShared ? "_shared" : "")(n) FROM unnest($1::bigint[]) AS n",
      [.ints(numbers)])
  }

  /// The number of keys that one transaction locks, beyond which it locks the collection: the server has space for a
  /// few thousand locks of all transactions (`max_locks_per_transaction`).
  static let maximumKeys = 1_000
}
