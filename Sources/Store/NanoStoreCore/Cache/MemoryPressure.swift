// SPDX-License-Identifier: MIT

#if canImport(Darwin)
  import Dispatch

  // @unchecked: a dispatch source is thread-safe.
  /// Calls a handler when the system is short of memory, until it is deallocated.
  final class MemoryPressure: @unchecked Sendable {
    private let source: any DispatchSourceMemoryPressure

    init(_ act: @escaping @Sendable () -> Void) {
      source = DispatchSource.makeMemoryPressureSource(
        eventMask: [.warning, .critical], queue: .global())
      source.setEventHandler { act() }
      source.activate()
    }

    deinit { source.cancel() }
  }
#endif
