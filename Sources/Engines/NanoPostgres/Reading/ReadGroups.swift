// SPDX-License-Identifier: MIT

import Dispatch
import NanoDocument
import NanoEngine

/// Combines gets of single documents that wait for others, such as those of many concurrent updates. A statement that
/// reads thirty documents takes hardly longer than one that reads a single one.
final class ReadGroups: Sendable {
  private struct Read {
    let collection: PostgresCollection
    let key: DocumentKey
  }

  private enum Outcome {
    case found(PostgresResult, row: Int)
    case missing
    /// The statement failed; the get must run on its own.
    case alone
  }

  private let groups = CallGroups<Read, Outcome>(
    // Arbitrary: the documents of a group are in memory together. The wait is longer than a round trip in one data
    // center, and shorter than one to another.
    maximum: 32, patience: .milliseconds(5)
  ) { read, others in
    read.collection.folded == others[0].collection.folded
      && read.collection.incarnation == others[0].collection.incarnation
  }

  /// How long a group waits for a lock, in milliseconds: a change of definitions can hold it for long, and only gets on
  /// their own can be canceled. Arbitrary, as that of ``GroupStatement``.
  private static let lockTimeout: Int64 = 100

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - show: Is passed the result and the number of the row, unless there is no such document.
  ///   - alone: Reads it on its own.
  func get(
    _ key: DocumentKey, _ collection: PostgresCollection, _ core: PostgresCore,
    show: (PostgresResult, Int) throws -> Void, alone: () throws -> Bool
  ) throws -> Bool {
    let read = Read(collection: collection, key: key)
    return try groups.run(read, together: { Self.run($0, core) }) { outcome in
      switch outcome {
      case .found(let rows, let row):
        // Since the metadata was cached, documents of the collection may have got expirations.
        guard rows.optionalInt(row, 8) == collection.incarnation else { return try alone() }
        try show(rows, row)
        return true
      case .missing: return false
      case .alone, nil: return try alone()
      }
    }
  }

  private static func run(_ reads: [Read], _ core: PostgresCore) -> [Outcome] {
    let session = PostgresSession(core.pool, .none, nil)
    defer { session.end() }
    let keys = Array(Set(reads.map(\.key)))
    let collection = reads[0].collection
    let limits: PostgresSQL =
      "SELECT set_config('lock_timeout', " + .value(.text("\(lockTimeout)ms")) + ", true)"
    let get = core.get(keys, collection, at: core.time(collection))
    guard let rows = try? session.run([limits.statement, get])[1] else {
      return reads.map { _ in .alone }
    }
    var rowsByKey: [ExactName: Int] = [:]
    for row in 0..<rows.count { rowsByKey[ExactName(rows.text(row, 1))] = row }
    return reads.map { read in
      rowsByKey[ExactName(read.key.description)].map { .found(rows, row: $0) } ?? .missing
    }
  }
}
