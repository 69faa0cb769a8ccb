// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// The caches of a store's collections, and their settings.
final class DocumentCache: Sendable {
  private struct State {
    var defaultSize = -1
    /// What was set for a collection, by its name in small letters.
    var sizes: [ExactName: Int] = [:]
    var caches: [ExactName: CollectionCache] = [:]
    #if canImport(Darwin)
      var pressure: MemoryPressure?
    #endif

    func size(_ name: ExactName) -> Int { sizes[name] ?? defaultSize }
  }
  private let state = Mutex(State())
  private let isOn = Atomic(false)
  /// Bytes that are kept, and how many may be.
  private let bytes = Atomic(0)
  private let limit = Atomic(DocumentCache.defaultLimit)

  /// 64 MiB. Arbitrary: some 150,000 small documents.
  private static let defaultLimit = 64 << 20

  /// The cache of a collection; nil if it has none.
  @inline(__always)
  subscript(name: String) -> CollectionCache? {
    isOn.load(ordering: .relaxed) ? cache(name) : nil
  }

  private func cache(_ name: String) -> CollectionCache? {
    state.withLock { state in
      let name = name.folded
      if let cache = state.caches[name] { return cache }
      let size = state.size(name)
      guard size >= 0 else { return nil }
      let cache = CollectionCache(size: size, of: self)
      state.caches[name] = cache
      return cache
    }
  }

  var defaultSize: Int {
    get { state.withLock(\.defaultSize) }
    set { change { $0.defaultSize = max(-1, newValue) } }
  }

  func size(_ name: String) -> Int { state.withLock { $0.size(name.folded) } }
  func setSize(_ size: Int, _ name: String) {
    change { $0.sizes[name.folded] = max(-1, size) }
  }

  private func change(_ change: (inout State) -> Void) {
    let changed = state.withLock { state in
      change(&state)
      isOn.store(
        state.defaultSize >= 0 || state.sizes.values.contains { $0 >= 0 }, ordering: .relaxed)
      #if canImport(Darwin)
        if state.pressure == nil, isOn.load(ordering: .relaxed) {
          state.pressure = MemoryPressure { [weak self] in self?.flush() }
        }
      #endif
      let changed = state.caches.map { (cache: $0.value, size: state.size($0.key)) }
      state.caches = state.caches.filter { state.size($0.key) >= 0 }
      return changed
    }
    for (cache, size) in changed {
      cache.withContents { contents in
        contents.size = size
        if size < 0 { contents.removeAll() } else { contents.trim() }
      }
    }
  }

  private var all: [CollectionCache] { state.withLock { Array($0.caches.values) } }

  /// Lets go of documents that the program does not have.
  func flush() { for cache in all { cache.withContents { $0.flush() } } }

  /// Forgets all documents.
  func removeAll() { for cache in all { cache.withContents { $0.removeAll() } } }

  var limitBytes: Int {
    get { limit.load(ordering: .relaxed) }
    set {
      limit.store(max(0, newValue), ordering: .relaxed)
      note(0)
    }
  }

  /// Counts what a collection keeps more or less; if all keep too much, lets go of some.
  @inline(__always)
  func note(_ change: Int) {
    let sum = bytes.wrappingAdd(change, ordering: .relaxed).newValue
    if sum > limitBytes { trim(sum - limitBytes) }
  }

  /// Takes from the collections that keep most, and a little more than needed, so that not every
  /// document that comes makes another one go.
  private func trim(_ excess: Int) {
    var excess = excess + limitBytes / 16
    let largest = all.map { (cache: $0, bytes: $0.withContents { $0.bytes }) }
      .sorted { $0.bytes > $1.bytes }
    for (cache, _) in largest where excess > 0 {
      excess -= cache.withContents { contents in
        let before = contents.bytes
        while contents.kept.count > 0, before - contents.bytes < excess { contents.dropOldest() }
        return before - contents.bytes
      }
    }
  }

  var use: CacheUse {
    all.reduce(into: CacheUse()) { use, cache in
      cache.withContents {
        use.documents += $0.kept.count
        use.bytes += $0.bytes
      }
    }
  }
}
