// SPDX-License-Identifier: MIT

import Foundation
import NanoEngine
import NanoSQLite
import NanoStoreEncryption
import NanoTestSupport
import Testing

extension ScryptCost {
  /// Quick, and worth nothing outside of tests.
  static let small = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
}

extension Encryption {
  static func test(
    _ passphrase: String = "correct horse", sealing scope: Scope = .all,
    indexes: Indexes = .refused
  ) -> Encryption {
    Encryption(.passphrase(passphrase), sealing: scope, indexes: indexes, cost: .small)
  }
}

/// The code of the ``StoreError`` that a block throws; nil if it throws none.
func code(_ work: () throws -> Void) -> StoreError.Code? { error(work)?.code }

/// The ``StoreError`` that a block throws; nil if it throws none.
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

/// A file with a store, and ways to look at it and to change it without the key.
struct SealedFile {
  let scratch: Scratch
  var path: String { scratch.file("a.db") }

  init() throws { scratch = try Scratch() }

  /// Opens the store with a key.
  func open(_ encryption: Encryption = .test()) throws -> Store {
    try Store(.file(path), encryption: encryption)
  }

  /// Everything in the folder: the database, what is not checkpointed yet, and what else there is.
  func bytes() throws -> [String: Data] {
    var all: [String: Data] = [:]
    for name in try scratch.names { all[name] = try scratch.bytes(name) }
    return all
  }

  /// Runs SQL as whoever has the file can.
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

  /// The number of the key that a body was sealed with.
  static func keyNumber(_ body: String) -> Int? {
    let parts = body.components(separatedBy: "\"")
    guard parts.count > 3, parts[1] == "$sealed", let sealed = Data(base64Encoded: parts[3]) else {
      return nil
    }
    return sealed.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }

  /// The body of a row as it stands in the file.
  func body(_ rowID: Int64, in collection: String = "people") throws -> String {
    try sql("SELECT body FROM \"\(collection)\" WHERE id = ?", .int(rowID)).first?["body"]?.string
      ?? ""
  }

  /// Changes the body of a row as it stands in the file.
  func setBody(_ rowID: Int64, _ body: String, in collection: String = "people") throws {
    try sql("UPDATE \"\(collection)\" SET body = ? WHERE id = ?", .string(body), .int(rowID))
  }
}
