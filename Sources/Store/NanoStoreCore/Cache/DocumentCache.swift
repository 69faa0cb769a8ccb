// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// The document caches of a store and their settings.
final class DocumentCache: Sendable {
  private struct State {
    var defaultSize: Int?
    /// The sizes set for collections, by case-folded name; nil for no cache.
    var sizes: [ExactName: Int?] = [:]
    var caches: [ExactName: CollectionCache] = [:]
    #if canImport(Darwin)
      var pressure: MemoryPressure?
    #endif

    func size(_ name: ExactName) -> Int? { sizes[name] ?? defaultSize }
  }
  private let state = Mutex(State())
  private let isOn = Atomic(false)
  /// The memory in use and its limit, in bytes.
  private let bytes = Atomic(0)
  private let limit = Atomic(DocumentCache.defaultLimit)

  /// 64 MiB. Arbitrary: about 150,000 small documents.
  static let defaultLimit = 64 << 20

  /// The cache of a collection; nil if caching is off for it.
  @inline(__always)
  subscript(name: String) -> CollectionCache? {
    isOn.load(ordering: .relaxed) ? cache(name) : nil
  }

  private func cache(_ name: String) -> CollectionCache? {
    state.withLock { state in
      let name = name.folded
      if let cache = state.caches[name] { return cache }
      guard let size = state.size(name) else { return nil }
      let cache = CollectionCache(size: size, of: self)
      state.caches[name] = cache
      return cache
    }
  }

  var defaultSize: Int? {
    get { state.withLock(\.defaultSize) }
    set { change { $0.defaultSize = newValue.flatMap(Self.valid) } }
  }

  func size(_ name: String) -> Int? { state.withLock { $0.size(name.folded) } }
  func setSize(_ size: Int?, _ name: String) {
    change { $0.sizes[name.folded] = .some(size.flatMap(Self.valid)) }
  }

  private static func valid(_ size: Int) -> Int? { size >= 0 ? size : nil }

  private func change(_ change: (inout State) -> Void) {
    let changed = state.withLock { state in
      change(&state)
      isOn.store(
        state.defaultSize != nil || state.sizes.values.contains { $0 != nil }, ordering: .relaxed)
      #if canImport(Darwin)
        if state.pressure == nil, isOn.load(ordering: .relaxed) {
          state.pressure = MemoryPressure { [weak self] in self?.flush() }
        }
      #endif
      let changed = state.caches.map { (cache: $0.value, size: state.size($0.key)) }
      state.caches = state.caches.filter { state.size($0.key) != nil }
      return changed
    }
    for (cache, size) in changed {
      cache.withContents { contents in
        contents.size = size ?? 0
        if size == nil { contents.removeAll() } else { contents.trim() }
      }
    }
  }

  private var all: [CollectionCache] { state.withLock { Array($0.caches.values) } }

  /// Releases documents that the program does not retain.
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

  /// Records a change in memory use, and evicts documents if the limit is exceeded.
  @inline(__always)
  func note(_ change: Int) {
    let sum = bytes.wrappingAdd(change, ordering: .relaxed).newValue
    if sum > limitBytes { trim(sum - limitBytes) }
  }

  /// Evicts documents from the collections that use the most memory, and slightly more than
  /// necessary, so that not every new document evicts another.
  private func trim(_ excess: Int) {
    var excess = excess + limitBytes / 16
    let largest = all.map { (cache: $0, bytes: $0.bytes) }.sorted { $0.bytes > $1.bytes }
    for (cache, _) in largest where excess > 0 {
      let evicted = cache.evict(excess)
      // Not noted, which would begin to evict from the next cache here.
      bytes.wrappingSubtract(evicted, ordering: .relaxed)
      excess -= evicted
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
