// SPDX-License-Identifier: MIT

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Records which thread holds an object that one thread may use at a time.
///
/// It does not wait and does not synchronize access: a lock or a pool does that, and the record lets the object
/// check that its caller respects it.
package struct ThreadOwner: ~Copyable, Sendable {
  /// The identity of the holding thread; 0 if none holds the object.
  private let thread = Atomic<UInt>(0)

  package init() {}

  /// Makes the current thread the holder.
  @inline(__always)
  package func take() { thread.store(Self.current, ordering: .relaxed) }

  /// Records that no thread holds the object.
  @inline(__always)
  package func release() { thread.store(0, ordering: .relaxed) }

  /// ``take()`` where only assertions read the record, which release builds do not have.
  @inline(__always)
  package func takeForAssertions() {
    #if DEBUG
      take()
    #endif
  }

  /// ``release()`` where only assertions read the record.
  @inline(__always)
  package func releaseForAssertions() {
    #if DEBUG
      release()
    #endif
  }

  /// Whether the current thread holds the object.
  @inline(__always)
  package var isCurrent: Bool { thread.load(ordering: .relaxed) == Self.current }

  /// Identifies the current thread.
  package static var current: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
