// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels
import Observation

/// Reads a property of loaded objects, with and without observation. The baseline is a plain Swift class; an
/// `@Observable` class reports every read. The result is the sum of the values.
struct PropertyReadScenario: Scenario {
  let set: SongSet

  let name = "property-reads"
  let work = "read a property of loaded objects"
  let unit = "read"
  /// Few objects, so that they are in the processor's cache.
  private static let objectCount = 1_000
  private static let passes = 1_000
  var operations: Int { Self.objectCount * Self.passes }

  final class PlainSong {
    var seconds: Int
    init(_ seconds: Int) { self.seconds = seconds }
  }

  @Observable final class ObservableSong {
    var seconds: Int
    init(_ seconds: Int) { self.seconds = seconds }
  }

  var raw: Variant {
    Variant("plain Swift class") { _ in
      let songs = (0..<Self.objectCount).map { PlainSong($0) }
      return { watch in watch.measure { Self.sum(songs) { $0.seconds } } }
    }
  }

  var record: Variant? { nil }

  var others: [Variant] {
    [
      Variant("@Observable class, not observed") { _ in
        let songs = (0..<Self.objectCount).map { ObservableSong($0) }
        return { watch in watch.measure { Self.sum(songs) { $0.seconds } } }
      }
    ]
  }

  var ours: [Variant] {
    [
      ours("objects, isLive: false", isLive: false, isObserved: false),
      ours("objects, not observed", isLive: true, isObserved: false),
      ours("objects, observed", isLive: true, isObserved: true),
    ]
  }

  private func ours(_ name: String, isLive: Bool, isObserved: Bool) -> Variant {
    Variant(name) { folder in
      let store = try Store.untuned(folder.freshFile("reads.db"))
      return { watch in
        let context = ObjectContext(store, undoLevels: 0, isLive: isLive)
        let songs = try (0..<Self.objectCount).map {
          try context.insert(Song(title: SongSet.title, seconds: $0))
        }
        if isObserved {
          withObservationTracking {
            for song in songs { _ = song.seconds }
          } onChange: {
          }
        }
        return withExtendedLifetime(context) {
          watch.measure { Self.sum(songs) { $0.seconds } }
        }
      }
    }
  }

  @inline(__always)
  private static func sum<Object>(_ objects: [Object], _ value: (Object) -> Int) -> Int {
    var sum = 0
    for _ in 0..<passes { for object in objects { sum &+= value(object) } }
    return sum
  }
}
