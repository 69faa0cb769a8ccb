// SPDX-License-Identifier: MIT

import ArgumentParser
import Foundation
import NanoStoreEncryption
import NanoStoreModels
import NanoTesting

/// What a process that is going to be killed is doing.
enum Life: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// Rounds, and between them indexes made and dropped, policies switched, compacting, backups.
  case rounds
  /// The same with a rollback journal in place of a log.
  case journal
  /// Rounds in an encrypted store, whose keys are rotated between them.
  case encrypted
  /// Queries that make the store build an index by itself, again and again.
  case tuned
  /// An upgrade of all documents to a new version of their type.
  case upgrade
  /// The command line tool importing a file.
  case importing

  /// Documents in the collection of lives that are about a large one.
  static let documents = 4_000

  func configuration() -> Store.Configuration {
    var configuration = Store.Configuration()
    configuration.indexTuning = self == .tuned ? .automatic : .off
    configuration.busyTimeout = 20
    if self == .journal { configuration.journalMode = .delete }
    return configuration
  }

  func open(_ path: String, _ configuration: Store.Configuration? = nil) throws -> Store {
    let configuration = configuration ?? self.configuration()
    guard self == .encrypted else { return try Store(.file(path), configuration: configuration) }
    return try Store(
      .file(path), configuration: configuration,
      encryption: Encryption(.key(Data(repeating: 7, count: 32))))
  }
}

/// A person as a program knew it, and as its next version does.
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
