// SPDX-License-Identifier: MIT

import Foundation
import NanoStoreEncryption

extension DamageSamples.Kind {
  private static let encryption = Encryption(
    .key(Data(repeating: 7, count: 32)), indexes: .blind)

  /// The size of the pages of the file.
  var pageSize: Int { self == .deep ? 512 : 1024 }

  /// The collections with documents. Their names begin with those that every sample has.
  var collections: [String] {
    DamageSamples.collections
      + (self == .models
        ? DamageGraph.collections : self == .tuned ? [DamageTuning.collection] : [])
  }

  /// Creates the empty store of a sample.
  func create(_ file: String) throws -> Store {
    var configuration = Store.Configuration()
    configuration.indexTuning = self == .tuned ? .automatic : .off
    var engine = SQLiteConfiguration()
    engine.pageSize = pageSize
    if self == .wide { engine.encoding = .utf16 }
    if self == .journal { engine.journalMode = .delete }
    return try open(file, configuration, engine)
  }

  /// Opens a copy of a sample, or the store that was recovered from one.
  func open(_ file: String, isRecovered: Bool = false) throws -> Store {
    var engine = SQLiteConfiguration()
    engine.busyTimeout = .seconds(0.1)
    engine.durability = .fast
    if self == .journal, !isRecovered { engine.journalMode = .delete }
    return try open(file, Store.Configuration(), engine)
  }

  private func open(
    _ file: String, _ configuration: Store.Configuration, _ engine: SQLiteConfiguration
  ) throws -> Store {
    guard self == .encrypted else {
      return try Store(.file(file), configuration: configuration, engine: engine)
    }
    return try Store(
      .file(file), configuration: configuration, engine: engine, encryption: Self.encryption)
  }
}
