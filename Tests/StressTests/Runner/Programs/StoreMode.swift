// SPDX-License-Identifier: MIT

import Foundation
import NanoStore
import NanoTesting

/// The configuration of the SQLite store for a program.
struct StoreMode: Sendable {
  enum Place: String, Sendable { case file, memory, temporary }

  var place = Place.file
  var journal = SQLiteConfiguration.JournalMode.wal
  var encoding = SQLiteConfiguration.TextEncoding.utf8
  /// See `Store.Configuration.documentCacheSize`.
  var cacheSize: Int?
  var indexTuning = IndexTuning.off
  /// Saves are collected here but not in the reference store, which must not affect reads.
  var saveInterval = 1
  var usesFastFieldAccess = true
  /// Whether collections have change feeds, which the reference engine does not support and which affect row IDs. The
  /// results of such programs are compared with a copy that the feed makes, and calls must not fail for reasons that no
  /// program causes.
  var tracksChanges = false

  init() {}

  /// Half of the modes are the default.
  init(_ random: inout SplitMix) {
    tracksChanges = random.oneIn(5)
    if random.oneIn(2) { return }
    place = random.pick([.file, .file, .memory, .temporary])
    // Not `off`, which does not support the rollbacks that programs perform.
    journal = random.oneIn(2) ? .wal : random.pick([.delete, .truncate, .persist, .memory])
    encoding = random.oneIn(3) ? .utf16 : .utf8
    cacheSize = random.pick([nil, nil, 0, 2, 100])
    indexTuning = random.oneIn(3) ? .automatic : .off
    saveInterval = random.oneIn(4) ? random.pick([2, 5, 100]) : 1
    usesFastFieldAccess = !random.oneIn(5)
  }

  /// Whether documents survive reopening.
  var isPersistent: Bool { place == .file }
  /// Whether a save returns the row ID and the revision.
  var returnsRowIDs: Bool { saveInterval == 1 }

  var configuration: Store.Configuration {
    var configuration = Store.Configuration()
    configuration.documentCacheSize = cacheSize
    configuration.indexTuning = indexTuning
    // Random queries name fields that do not exist, and log lines have times, which would make reports differ.
    configuration.warnsAboutUnknownFields = false
    return configuration
  }

  func engine(_ clock: ManualClock) -> SQLiteConfiguration {
    var engine = SQLiteConfiguration()
    engine.clock = clock
    engine.durability = .fast
    engine.journalMode = journal
    engine.encoding = encoding
    engine.usesFastFieldAccess = usesFastFieldAccess
    return engine
  }

  func open(_ path: String, _ clock: ManualClock) throws -> Store {
    let location: Store.Location =
      switch place {
      case .file: .file(path)
      case .memory: .memory
      case .temporary: .temporary
      }
    let store = try Store(location, configuration: configuration, engine: engine(clock))
    store.saveInterval = saveInterval
    return store
  }
}

extension StoreMode: CustomStringConvertible {
  var description: String {
    var parts = [place.rawValue]
    if place == .file { parts.append("journal \(journal.rawValue)") }
    if encoding != .utf8 { parts.append(encoding.rawValue) }
    if let cacheSize { parts.append("cache \(cacheSize)") }
    if indexTuning != .off { parts.append("tuning \(indexTuning.rawValue)") }
    if saveInterval != 1 { parts.append("save interval \(saveInterval)") }
    if tracksChanges { parts.append("change feeds") }
    if !usesFastFieldAccess { parts.append("SQLite's json_extract") }
    return parts.joined(separator: ", ")
  }
}
