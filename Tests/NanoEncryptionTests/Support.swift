// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoSQLite
import NanoStoreEncryption
import NanoTestSupport
import Testing

extension ScryptCost {
  /// Fast, and not secure enough for anything but tests.
  static let small = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
}

extension Encryption {
  static func test(
    _ passphrase: String = "correct horse", encrypting scope: Scope = .all,
    indexes: Indexes = .rejected
  ) -> Encryption {
    Encryption(.passphrase(passphrase), encrypting: scope, indexes: indexes, cost: .small)
  }
}

/// Returns the code of the ``StoreError`` that the closure throws, or nil if it throws none.
func code(_ work: () throws -> Void) -> StoreError.Code? { error(work)?.code }

/// Returns the ``StoreError`` that the closure throws, or nil if it throws none.
func error(_ work: () throws -> Void) -> StoreError? {
  do {
    try work()
    return nil
  } catch let error as StoreError {
    return error
  } catch {
    Issue.record(error)
    return nil
  }
}

/// A store file that can be inspected and modified without the key.
struct SealedFile {
  let scratch: Scratch
  var path: String { scratch.file("a.db") }

  init() throws { scratch = try Scratch() }

  /// Opens the store with a key.
  func open(_ encryption: Encryption = .test()) throws -> Store {
    try Store(.file(path), encryption: encryption)
  }

  /// Returns the contents of all files in the folder: the database, its write-ahead log and any others.
  func bytes() throws -> [String: Data] {
    var all: [String: Data] = [:]
    for name in try scratch.names { all[name] = try scratch.bytes(name) }
    return all
  }

  /// Runs SQL without the key.
  @discardableResult
  func sql(_ statement: String, _ arguments: DocumentValue...) throws -> [SQLRow] {
    var configuration = SQLiteConfiguration()
    configuration.allowsInternalWrites = true
    let engine = try SQLiteEngine(.file(path), configuration)
    defer { try? engine.close() }
    return try engine.write(nil) { writer in
      var rows: [SQLRow] = []
      _ = try (writer as? any SQLReader)?.sql(statement, SQLArguments(arguments)) {
        rows.append($0)
        return true
      }
      return rows
    }
  }

  /// Returns the number of the key that sealed a body.
  static func keyNumber(_ body: String) -> Int? {
    let parts = body.components(separatedBy: "\"")
    guard parts.count > 3, parts[1] == "$sealed", let sealed = Data(base64Encoded: parts[3]) else {
      return nil
    }
    return sealed.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns the stored body of a row.
  func body(_ rowID: Int64, in collection: String = "people") throws -> String {
    try sql("SELECT body FROM \"\(collection)\" WHERE id = ?", .int(rowID)).first?["body"]?.string
      ?? ""
  }

  /// Replaces the stored body of a row.
  func setBody(_ rowID: Int64, _ body: String, in collection: String = "people") throws {
    try sql("UPDATE \"\(collection)\" SET body = ? WHERE id = ?", .string(body), .int(rowID))
  }
}
