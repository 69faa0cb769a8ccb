// SPDX-License-Identifier: MIT

import Foundation
import NanoDocument
import NanoEngine
import NanoSQLite

/// A SQLite file of an old library, with what both libraries' readers need of it.
final class SQLiteSource {
  let tables: SQLiteTables
  let path: String
  /// Damage found so far, one sentence each.
  private(set) var damage: [String]
  private var noted: Set<ExactName>

  init(_ path: String) throws {
    self.path = path
    tables = try SQLiteTables(path)
    damage = tables.damage
    noted = Set(tables.damage.map { ExactName($0) })
  }

  /// The path, size and date of the file and its log.
  var fingerprint: String {
    ["", "-wal"].map { suffix in
      let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
      let date = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
      return "\(attributes?[.size] as? Int ?? 0) \(Int64(date * 1_000))"
    }.joined(separator: " ") + " " + URL(filePath: path).lastPathComponent
  }

  /// Passes the rows of a table to a closure, and notes damaged pages. Returns whether there are
  /// any.
  @discardableResult
  func each(in table: SQLiteTables.Table, _ visit: (SQLiteTables.Row) throws -> Void) rethrows
    -> Bool
  {
    let damaged = try tables.each(in: table, visit)
    if damaged > 0 {
      note(
        damaged == 1
          ? "1 page of the table \(table.name) cannot be read, or only in part"
          : "\(damaged) pages of the table \(table.name) cannot be read, or only in part")
    }
    return damaged > 0
  }

  func note(_ sentence: String) {
    if noted.insert(ExactName(sentence)).inserted { damage.append(sentence) }
  }
}

extension SQLiteTables.Value {
  var text: String? { if case .text(let text) = self { text } else { nil } }

  /// The bytes of a blob or a text.
  var bytes: [UInt8]? {
    switch self {
    case .blob(let bytes), .invalidText(let bytes): bytes
    case .text(let text): Array(text.utf8)
    default: nil
    }
  }

  /// A text, or a number as a text, which other tools may have written.
  var name: String? {
    switch self {
    case .text(let text): text
    case .int(let number): String(number)
    case .blob(let bytes): String(validating: bytes, as: UTF8.self)
    default: nil
    }
  }
}
