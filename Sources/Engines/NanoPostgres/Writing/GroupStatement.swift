// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

/// A write of one document with a key, which a statement may combine with others.
struct GroupedWrite {
  enum Kind {
    case insert, save, delete
    /// Replaces the document if it has a revision.
    case replace

    /// What is reported of an existing document.
    var change: Change.Kind {
      switch self {
      case .insert: .inserted
      case .save, .replace: .updated
      case .delete: .deleted
      }
    }
  }

  let kind: Kind
  let collection: PostgresCollection
  let key: DocumentKey
  /// The new content; `nil` for a deletion.
  var row: DocumentRow?
  /// The collection that must not exist for a deletion.
  var absent: ExactName?

  /// Whether a statement may combine it with others.
  var canBeCombined: Bool { collection.layout == .plain }

  /// Returns whether one statement can do both.
  func matches(_ other: GroupedWrite) -> Bool {
    kind == other.kind && collection.folded == other.collection.folded
      && collection.generation == other.collection.generation
      && collection.incarnation == other.collection.incarnation && absent == other.absent
  }
}

/// A statement that writes several documents of one collection, or none.
struct GroupStatement {
  private let core: PostgresCore
  private let writes: [GroupedWrite]
  private let collection: PostgresCollection
  /// The revision of a new document whose row ID was in use.
  private let unused = DocumentRow.unusedRevision()

  /// How long it waits for locks, in milliseconds. Much shorter than the server's `deadlock_timeout`, one second by
  /// default: the writes of a group must not fail a transaction that would not deadlock with any one of them.
  private static let lockTimeout: Int64 = 100

  /// - Parameter writes: Writes that match, of different documents.
  init(_ core: PostgresCore, _ writes: [GroupedWrite]) {
    self.core = core
    self.writes = writes
    collection = writes[0].collection
  }

  /// Returns the outcome of each write.
  func run() -> [WriteGroups.Outcome] {
    // In one order, so that two groups do not wait for each other.
    let order = writes.indices.sorted {
      writes[$0].key.description.isBefore(writes[$1].key.description)
    }
    let sorted = order.map { writes[$0] }
    let alone = writes.map { _ in WriteGroups.Outcome.alone }
    do {
      var single = SingleStatement(core, collection)
      let sql = statement(sorted, single)
      let locked = writes[0].kind == .insert || writes[0].kind == .save ? sorted.map(\.key) : []
      switch try single.run(
        sql, keys: locked, absent: writes[0].absent, lockTimeout: Self.lockTimeout, nil)
      {
      case .needsTransaction: return alone
      case .committed(let stamp): return writes.map { _ in .committed(stamp: stamp) }
      case .rows(let rows):
        core.tokens.noteCommit(core)
        var results: [ExactName: SingleWriteResult] = [:]
        for row in 0..<rows.count {
          results[ExactName(rows.text(row, 1))] = SingleWriteResult(
            rowID: rows.int(row, 0), kind: kind(rows.int(row, 2)), stamp: rows.int(row, 3))
        }
        return writes.map { results[ExactName($0.key.description)].map { .stored($0) } ?? .alone }
      }
    } catch let error as StoreError where error.code == .outcomeUnknown {
      return writes.map { _ in .failed(error) }
    } catch {
      // Nothing was written. Each write has its own error, if any.
      return alone
    }
  }

  private func kind(_ revision: Int64) -> Change.Kind {
    let kind = writes[0].kind
    return kind == .save && (revision == 1 || revision == unused) ? .inserted : kind.change
  }

  /// Returns a statement with a row for each document that was written: row ID, key, revision, stamp.
  private func statement(_ writes: [GroupedWrite], _ single: SingleStatement) -> PostgresSQL {
    let change: PostgresSQL =
      switch writes[0].kind {
      case .insert, .save: insert(writes)
      case .replace: replace(writes)
      case .delete: delete(writes)
      }
    return "WITH " + single.valid(absent: writes[0].absent) + ", doc AS (" + change
      + " RETURNING t.id, t.key, t.revision), " + single.tokenInsert(forAll: writes.count)
      + " SELECT doc.id, doc.key, doc.revision, tok.stamp FROM doc, tok"
  }

  private func insert(_ writes: [GroupedWrite]) -> PostgresSQL {
    let rows = writes.compactMap(\.row)
    let columns = DocumentRow.columns(collection)
    let replaces = writes[0].kind == .save
    var sql: PostgresSQL = "INSERT INTO \(collection.table) AS t "
    sql += "(\(columns.joined(separator: ", "))) SELECT "
    sql += replaces ? "coalesce(o.id, " + collection.newRowID + ")" : collection.newRowID
    sql += ", v.key, v.type, v.version, v.added, "
    if replaces {
      sql += "CASE WHEN o.id IS NULL THEN 1 ELSE " + .value(.int(unused)) + "::bigint END"
    } else {
      sql += "1"
    }
    let after = columns[6...].map { "v." + $0 }.joined(separator: ", ")
    sql += ", \(after) FROM c CROSS JOIN "
    sql += values(rows, without: [0, 5])
    guard replaces else { return sql + " ON CONFLICT DO NOTHING" }
    sql += " LEFT JOIN \(collection.table) AS o ON o.key = v.key"
    return sql + PostgresSQL(DocumentRow.onConflictReplace(collection))
  }

  private func replace(_ writes: [GroupedWrite]) -> PostgresSQL {
    let columns = DocumentRow.columns(collection)
    let changed = (columns[2...3] + columns[6...]).map { "\($0) = v.\($0)" }
    var sql: PostgresSQL =
      "UPDATE \(collection.table) AS t SET \(changed.joined(separator: ", ")), "
    sql += "revision = \(DocumentRow.nextRevision("t.revision")) FROM c CROSS JOIN "
    let documents = writes.map { $0.row?.document }
    sql += values(
      writes.compactMap(\.row), without: [0, 4, 5],
      replaced: (documents.map { $0?.rowID }, documents.map { $0?.replacedRevision }))
    return sql
      + " WHERE t.key = v.key AND t.revision = v.replaced AND (v.row IS NULL OR t.id = v.row)"
  }

  /// Returns a table expression `v` with a row for each document.
  ///
  /// - Parameters:
  ///   - omitted: The numbers of columns that it does not have.
  ///   - replaced: The values of the additional columns `row` and `replaced`.
  private func values(
    _ rows: [DocumentRow], without omitted: Set<Int>,
    replaced: (rowIDs: [Int64?], revisions: [Int64?])? = nil
  ) -> PostgresSQL {
    let columns = DocumentRow.columns(collection)
    let (arrays, types) = (DocumentRow.arrays(rows), DocumentRow.types(collection))
    let used = columns.indices.filter { !omitted.contains($0) }
    var names = used.map { columns[$0] }
    var parts: [PostgresSQL] = used.map { .value(arrays[$0]) + "::\(types[$0])[]" }
    if let replaced {
      names += ["row", "replaced"]
      parts += [replaced.rowIDs, replaced.revisions].map { .value(.ints($0)) + "::bigint[]" }
    }
    return "unnest(" + PostgresSQL.joined(parts, by: ", ")
      + ") AS v (\(names.joined(separator: ", ")))"
  }

  private func delete(_ writes: [GroupedWrite]) -> PostgresSQL {
    "DELETE FROM \(collection.table) AS t USING c WHERE t.key = ANY ("
      + .value(.texts(writes.map(\.key.description))) + ")"
  }
}
