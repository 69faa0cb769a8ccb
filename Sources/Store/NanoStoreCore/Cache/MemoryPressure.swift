// SPDX-License-Identifier: MIT

#if canImport(Darwin)
  import Dispatch

  // @unchecked: a source of events may be used from any thread.
  /// Calls back when the system is short of memory, for as long as it is there.
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
