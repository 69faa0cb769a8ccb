// SPDX-License-Identifier: MIT

import Foundation
import GRDBSQLite
import NanoTestSupport
import Testing

/// A SQLite file that a test writes as an old library did.
final class LegacyDatabase {
  let url: URL
  private var handle: OpaquePointer?

  init(_ url: URL, setup: String = "") throws {
    self.url = url
    try #require(sqlite3_open(url.path, &handle) == SQLITE_OK)
    try run(setup)
  }

  deinit { sqlite3_close(handle) }

  enum Value {
    case int(Int64)
    case text(String)
    case blob([UInt8])
    case null
  }

  func run(_ sql: String, _ values: [Value] = []) throws {
    guard !values.isEmpty else {
      let code = sqlite3_exec(handle, sql, nil, nil, nil)
      try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
      return
    }
    var statement: OpaquePointer?
    try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for (offset, value) in values.enumerated() {
      let index = Int32(offset + 1)
      switch value {
      case .int(let number): sqlite3_bind_int64(statement, index, number)
      case .text(let text): sqlite3_bind_text(statement, index, text, -1, copies)
      case .blob(let bytes):
        if bytes.isEmpty {
          sqlite3_bind_zeroblob(statement, index, 0)
        } else {
          sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copies)
        }
      case .null: sqlite3_bind_null(statement, index)
      }
    }
    try #require(sqlite3_step(statement) == SQLITE_DONE)
  }

  func close() {
    sqlite3_close(handle)
    handle = nil
  }
}

extension LegacyDatabase {
  /// Creates the tables of NanoStore.
  static func nanoStore(
    _ url: URL, pragmas: String = "", content: String = "NSFKeyedArchive BLOB"
  ) throws -> LegacyDatabase {
    try LegacyDatabase(
      url,
      setup: """
        \(pragmas);
        CREATE TABLE NSFValues(ROWID INTEGER PRIMARY KEY, NSFKey TEXT, NSFAttribute TEXT, NSFValue NONE, NSFDatatype TEXT);
        CREATE TABLE NSFKeys(ROWID INTEGER PRIMARY KEY, NSFKey TEXT, \(content), NSFCalendarDate TEXT, NSFObjectClass TEXT);
        """)
  }

  /// Adds a document of NanoStore.
  func add(
    _ key: String?, content: Value, class name: String? = "NSFNanoObject",
    saved: String = "2012-05-28 17:24:33:512"
  ) throws {
    try run(
      "INSERT INTO NSFKeys VALUES (NULL, ?, ?, ?, ?)",
      [
        key.map { .text($0) } ?? .null, content, .text(saved), name.map { .text($0) } ?? .null,
      ])
  }

  /// Adds a document of NanoStore as a keyed archive.
  func add(
    _ key: String?, _ root: Archived, class name: String? = "NSFNanoObject",
    saved: String = "2012-05-28 17:24:33:512"
  ) throws {
    try add(key, content: .blob(KeyedArchiveWriter.archive(root)), class: name, saved: saved)
  }

  /// Adds a bag of NanoStore.
  func addBag(
    _ key: String, named name: String?, _ members: [String], class type: String = "NSFNanoBag"
  )
    throws
  {
    var fields: [(String, Archived)] = [
      ("NSF_Private_NSFNanoBag_NSFKey", .text(key)),
      ("NSF_Private_NSFNanoBag_NSFObjectKeys", .array(members.map { .text($0) })),
    ]
    if let name { fields.append(("NSF_Private_NSFNanoBag_Name", .text(name))) }
    try add(key, .dictionary(fields), class: type)
  }
}
