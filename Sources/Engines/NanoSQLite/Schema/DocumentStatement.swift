// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQL

extension CollectionTable {
  /// The statements for single documents.
  enum Statement: Int, CaseIterable {
    case getByKey, getForeignByKey, getByRowID, getRange, getList, insert, insertPlain, insertBatch,
      insertBatchAt, insertAgain, save, replaceByKey, replaceByRowID, removeByKey
    /// As the two of these names, for a row with a revision that can be incremented, in a table for which `isAlone` is
    /// true.
    case replaceAloneByKey, replaceAloneByRowID
    case removeByRowID, rowIDOfKey, lastRowID, bodyByKey, bodyByRowID, revision
    /// Whether several documents may be inserted by one statement.
    case mayInsertBatch
    /// The largest ID ever deleted, the largest existing ID, and whether there are foreign rows.
    case rowIDState

    /// Whether the statement may fire the triggers that every collection has. One fires for deleted rows, the other
    /// for updates that do not change the revision.
    var deletes: Bool { self == .removeByKey || self == .removeByRowID }

    /// Whether the statement reads a single document.
    var readsOne: Bool {
      switch self {
      case .getByKey, .getByRowID, .rowIDOfKey, .bodyByKey, .bodyByRowID, .revision: true
      default: false
      }
    }

    /// A 52-bit number that, except by chance, no document has had as its revision. Counting from 0 could give a
    /// different content of a row that another program wrote the same revision.
    static let anyRevision = "(random() & 4503599627370495)"

    /// Whether a document may be replaced, by its revision and, since another one may have the same, its row ID.
    private static let isExpected = "(?5 IS NULL OR revision = ?5 AND (?8 IS NULL OR id = ?8))"

    /// In tracked collections, parameter 7 is the number of an updated document in the change feed, and parameter 8
    /// that of a new one, NULL if it is the row ID. Where documents may expire, parameter 2 of a read is the time.
    func sql(_ table: String, isTracked: Bool, _ expiry: ExpirySchema?) -> String {
      let visible = expiry.map { " AND " + $0.isVisible("?2") } ?? ""
      let column = isTracked ? ", \(FeedSchema.column)" : ""
      let position = isTracked ? ", ?8" : ""
      let setPosition = isTracked ? "\(FeedSchema.column) = ?7, " : ""
      // After the largest integer, which another program may have written, SQLite would continue with doubles.
      let nextRevision =
        "CASE WHEN revision < \(Int64.max) THEN revision + 1 ELSE \(Self.anyRevision) END"
      // All attributes: checking for foreign rows would not pay off for a single document.
      let columns = AttributeUsage.all.columns()
      let insert =
        "INSERT INTO \(table)(id, key, type, version, added, revision, body\(column)) "
        + "VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6\(position))"
      // Another program may have written values of other types, which a row with a revision must not have.
      let added = "added = CASE WHEN typeof(added) = 'integer' THEN added END, "
      let type = "type = CASE WHEN ?6 THEN type ELSE ?2 END"
      let textualType =
        "type = CASE WHEN ?6 THEN CASE WHEN typeof(type) = 'text' THEN type END ELSE ?2 END"
      let replace =
        "UPDATE \(table) SET \(textualType), version = ?3, body = ?4, \(added)\(setPosition)"
        + "revision = \(nextRevision) WHERE \(Self.isExpected) AND "
      // A statement with a trigger that calls a function, or may be undone by a violated constraint, copies each page
      // before changing it. This one calls none, and its row cannot violate a constraint.
      let replaceAlone =
        "UPDATE OR FAIL \(table) SET \(type), version = ?3, body = ?4, revision = revision + 1 "
        + "WHERE revision < \(Int64.max) AND \(Self.isExpected) AND "
      switch self {
      case .getByKey: return "SELECT \(columns) FROM \(table) WHERE key = ?1\(visible)"
      // Other programs may write a key as a number, or a UUID as text.
      case .getForeignByKey:
        return "SELECT \(columns) FROM \(table) WHERE revision IS NULL AND typeof(key) <> 'blob' "
          + "AND CAST(key AS TEXT) = ?1\(visible)"
      case .getByRowID: return "SELECT \(columns) FROM \(table) WHERE id = ?1\(visible)"
      case .getRange:
        return "SELECT \(columns) FROM \(table) WHERE id BETWEEN ?1 AND ?3\(visible)"
      // One statement for any number of row IDs, a JSON array.
      case .getList:
        return "SELECT \(columns) FROM \(table) "
          + "WHERE id IN (SELECT value FROM json_each(?1))\(visible)"
      case .insert: return insert
      // A row with this ID may have existed before: counting from 1 could reuse its revision for a different
      // content.
      case .insertAgain:
        return "INSERT INTO \(table)(id, key, type, version, added, revision, body\(column)) "
          + "VALUES (?1, ?2, ?3, ?4, ?5, \(Self.anyRevision), ?6\(position))"
      case .insertPlain:
        return "INSERT INTO \(table)(key, added, revision, body) VALUES (?1, ?2, 1, ?3)"
      case .insertBatch:
        let rows = (0..<NewDocument.batchSize).map {
          "(?\(3 * $0 + 1), ?\(3 * $0 + 2), 1, ?\(3 * $0 + 3))"
        }
        return "INSERT INTO \(table)(key, added, revision, body) VALUES "
          + rows.joined(separator: ", ")
      case .insertBatchAt:
        let rows = (0..<NewDocument.batchSize).map { row in
          "(\((1...4).map { "?\(5 * row + $0)" }.joined(separator: ", ")), 1, ?\(5 * row + 5))"
        }
        return "INSERT INTO \(table)(id, key, version, added, revision, body) VALUES "
          + rows.joined(separator: ", ")
      case .mayInsertBatch:
        return "SELECT coalesce(max(id), 0) < \(Int64.max >> 1) "
          + "AND NOT EXISTS (\(Schema.otherTriggers)) FROM \(table)"
      case .save:
        return "\(insert) ON CONFLICT (key) WHERE key IS NOT NULL DO UPDATE SET "
          + "type = excluded.type, version = excluded.version, body = excluded.body, "
          + "\(added)\(setPosition)"
          + "revision = \(nextRevision)"
      case .replaceByKey: return replace + "key = ?1"
      case .replaceByRowID: return replace + "id = ?1"
      case .replaceAloneByKey: return replaceAlone + "key = ?1"
      case .replaceAloneByRowID: return replaceAlone + "id = ?1"
      case .removeByKey: return "DELETE FROM \(table) WHERE key = ?1"
      case .removeByRowID: return "DELETE FROM \(table) WHERE id = ?1"
      case .rowIDOfKey: return "SELECT id FROM \(table) WHERE key = ?1"
      case .lastRowID: return "SELECT coalesce(max(id), 0) FROM \(table)"
      case .bodyByKey: return "SELECT id, body, revision IS NULL FROM \(table) WHERE key = ?1"
      case .bodyByRowID: return "SELECT id, body, revision IS NULL FROM \(table) WHERE id = ?1"
      case .revision: return "SELECT revision FROM \(table) WHERE id = ?1\(visible)"
      case .rowIDState:
        return "SELECT high_water, (SELECT coalesce(max(id), 0) FROM \(table)), "
          + "EXISTS (SELECT 1 FROM \(table) WHERE revision IS NULL) "
          + "FROM nano_collections WHERE name = ?"
      }
    }
  }
}
