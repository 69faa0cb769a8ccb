// SPDX-License-Identifier: MIT

import NanoEngine
import NanoServer
package import NanoStoreCore

/// Maintenance of a whole store.
package enum MaintenanceTask: String, CaseIterable, Sendable {
  case verify, compact

  /// Runs the task on a store, and returns the outcome as JSON.
  ///
  /// Canceling has no effect: the engines do not interrupt these operations.
  package func run(on store: Store) async throws -> [UInt8] {
    let outcome: Wire =
      switch self {
      case .verify: try await Self.verify(store)
      case .compact: try await Self.compact(store)
      }
    return outcome.json
  }

  private static func verify(_ store: Store) async throws -> Wire {
    let clock = ContinuousClock()
    let start = clock.now
    let problems = try await store.verify()
    return [
      "milliseconds": .double((clock.now - start) / .milliseconds(1)),
      "count": .int(problems.count),
      "problems": .array(
        problems.prefix(maximumProblems).map {
          ["subject": .string($0.subject), "message": .string($0.message)]
        }),
    ]
  }

  /// The number of problems that are listed.
  private static let maximumProblems = 200

  private static func compact(_ store: Store) async throws -> Wire {
    let before = try await store.statistics().size
    try await store.compact()
    return ["before": .int(before), "after": .int(try await store.statistics().size)]
  }

  fileprivate var phase: String {
    switch self {
    case .verify: "verifying"
    case .compact: "compacting"
    }
  }
}

/// The failure of maintenance in another process, as JSON.
package struct MaintenanceFailure: Error {
  package let json: [UInt8]

  package init(json: [UInt8]) { self.json = json }
  package init(_ error: any Error) { json = WireError.wire(error).json }
}

extension Inspector {
  /// Runs maintenance as a transfer, which a page can follow and cancel.
  func maintain(_ task: MaintenanceTask, _ request: ServerRequest) async throws -> Wire {
    let transfer = try transfers.add(request["id"])
    return try await transfer.run {
      try transfer.begin(task.phase)
      let work = Task { [store, options] in
        guard let maintenance = options.maintenance else { return try await task.run(on: store) }
        return try await maintenance(task)
      }
      transfer.whenCanceled { work.cancel() }
      return try await withTaskCancellationHandler {
        .json(try await work.value)
      } onCancel: {
        work.cancel()
      }
    }
  }
}
