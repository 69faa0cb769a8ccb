// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoTesting

/// What a process does when it is killed.
enum CrashScenario: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// Rounds, and between them index changes, policy changes, compaction and backups.
  case rounds
  /// Rounds with a rollback journal instead of a write-ahead log.
  case journal
  /// Rounds in an encrypted store, with key rotations between them.
  case encrypted
  /// Queries that repeatedly make the store create an index automatically.
  case tuned
  /// An upgrade of all documents to a new version of their type.
  case upgrade
  /// An import by the command-line tool.
  case importing

  /// The number of documents in scenarios with a large collection.
  static let documents = 4_000

  func open(_ path: String, _ durability: Durability = .normal) throws -> Store {
    var configuration = Store.Configuration()
    configuration.indexTuning = self == .tuned ? .automatic : .off
    var engine = SQLiteConfiguration()
    engine.busyTimeout = .seconds(20)
    engine.durability = durability
    if self == .journal { engine.journalMode = .delete }
    guard self == .encrypted else {
      return try Store(.file(path), configuration: configuration, engine: engine)
    }
    return try Store(
      .file(path), configuration: configuration, engine: engine,
      encryption: Encryption(.key(Data(repeating: 7, count: 32))))
  }
}

/// A member in the earlier version of the program.
enum Before {
  @Model(collection: "members") struct Member: Equatable {
    @Key var id: String
    var name: String
    var points: Int
  }
}

enum After {
  @Model(collection: "members", version: 2) struct Member: Equatable {
    @Key var id: String
    @Indexed var first: String
    var last: String
    var points: Int

    static let upgrades = [
      ModelUpgrade(from: 1) { fields in
        let words = (fields["name"]?.string ?? "").split(separator: " ").map { String($0) }
        fields["first"] = .string(words.first ?? "")
        fields["last"] = .string(words.last ?? "")
        fields["name"] = nil
      }
    ]
  }

  static func member(_ number: Int) -> Member {
    Member(id: "m\(number)", first: "F\(number)", last: "L\(number)", points: number)
  }
}
