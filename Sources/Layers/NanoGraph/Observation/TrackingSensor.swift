// SPDX-License-Identifier: MIT

import Observation
import Synchronization

/// Detects whether the current code reads properties for an observer, as in `withObservationTracking`.
///
/// The Observation module does not say so. But a tracked read retains the key path that it reports, which is seen in
/// its reference count. So an object needs a registrar, which allocates 200 bytes, only once it is really observed.
final class TrackingSensor {
  private final class Probe: Observable {
    subscript(number: Int) -> Int { number }
  }

  private let registrar = ObservationRegistrar()
  private let probe = Probe()
  @exclusivity(unchecked) private var number = 0
  @exclusivity(unchecked) private var path = TrackingSensor.path(0)

  /// Returns whether reads are tracked on this thread.
  func isTracking() -> Bool {
    registrar.access(probe, keyPath: path)
    guard !isKnownUniquelyReferenced(&path) else { return false }
    // Equal key paths are retained only once.
    number &+= 1
    path = Self.path(number)
    return true
  }

  /// The argument makes the key path an object of its own; a key path without arguments is shared.
  @inline(never)
  private static func path(_ number: Int) -> KeyPath<Probe, Int> { \Probe[number] }

  /// The sensor of objects without a context.
  static let shared = Mutex(TrackingSensor())
}
