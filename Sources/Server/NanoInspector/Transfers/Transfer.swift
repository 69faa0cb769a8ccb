// SPDX-License-Identifier: MIT

import NanoDocument
import Synchronization

/// A backup, export or import, whose progress a page shows and which it can cancel.
final class Transfer: Sendable {
  private struct State {
    var phase = ""
    var done = 0
    var total: Int?
    var documents: Int?
    var outcome = Outcome.running
    var isCanceled = false
    var wakes: (@Sendable () -> Void)?
  }
  enum Outcome: Sendable {
    case running, finished, canceled
    case failed(Wire)
  }
  private let state = Mutex(State())

  var isOver: Bool {
    if case .running = state.withLock({ $0.outcome }) { return false }
    return true
  }

  /// Begins a phase of the work, with the number of bytes or shares that it will process.
  func begin(_ phase: String, total: Int? = nil) throws {
    try update {
      $0.phase = phase
      ($0.done, $0.total) = (0, total)
    }
  }

  /// Records progress.
  ///
  /// - Throws: `CancellationError` if the page has canceled the work.
  func report(done: Int, total: Int? = nil, documents: Int? = nil) throws {
    try update {
      $0.done = done
      if let total { $0.total = total }
      if let documents { $0.documents = documents }
    }
  }

  private func update(_ change: (inout State) -> Void) throws {
    let isCanceled = state.withLock { state in
      change(&state)
      return state.isCanceled
    }
    if isCanceled { throw CancellationError() }
  }

  /// Calls a closure when the page cancels the work, or now if it already has.
  func whenCanceled(_ wake: @escaping @Sendable () -> Void) {
    let isCanceled = state.withLock { state in
      state.wakes = wake
      return state.isCanceled
    }
    if isCanceled { wake() }
  }

  func cancel() {
    let wake = state.withLock { state in
      state.isCanceled = true
      return state.wakes
    }
    wake?()
  }

  /// Runs the work and records its outcome.
  func run<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      let result = try await work()
      end(.finished)
      return result
    } catch {
      let isCanceled = state.withLock { $0.isCanceled } || error is CancellationError
      end(isCanceled || Task.isCancelled ? .canceled : .failed(WireError.wire(error)))
      throw isCanceled ? CancellationError() : error
    }
  }

  private func end(_ outcome: Outcome) {
    state.withLock {
      $0.outcome = outcome
      $0.wakes = nil
    }
  }

  var wire: Wire {
    let state = state.withLock { $0 }
    var fields: [(name: String, value: Wire)] = [
      ("phase", .string(state.phase)), ("done", .int(state.done)),
      ("total", .optional(state.total)), ("documents", .optional(state.documents)),
    ]
    switch state.outcome {
    case .running: fields.append(("state", "running"))
    case .finished: fields.append(("state", "finished"))
    case .canceled: fields.append(("state", "canceled"))
    case .failed(let error): fields += [("state", "failed"), ("failure", error)]
    }
    return .fields(fields)
  }
}

/// The transfers of pages, by the name that the page has chosen.
final class Transfers: Sendable {
  private let all = Mutex<[(name: String, transfer: Transfer)]>([])

  /// The number of transfers whose outcome is kept; arbitrary.
  private static let maximum = 100
  /// The maximum length of a name; arbitrary.
  private static let maximumName = 64

  /// Adds a transfer.
  ///
  /// - Parameter name: Nil if no page asks for it again.
  func add(_ name: String?) throws -> Transfer {
    let transfer = Transfer()
    guard let name else { return transfer }
    try all.withLock { all in
      guard name.utf8.count <= Self.maximumName, !all.contains(where: { $0.name == name }) else {
        throw RouteError.invalid("id", "a new name of at most \(Self.maximumName) bytes")
      }
      if all.count >= Self.maximum {
        guard let old = all.firstIndex(where: { $0.transfer.isOver }) else {
          throw RouteError(
            status: 503, code: "busy",
            message: "\(Self.maximum) backups, exports and imports are running.")
        }
        all.remove(at: old)
      }
      all.append((name, transfer))
    }
    return transfer
  }

  func find(_ name: String) throws -> Transfer {
    guard let found = all.withLock({ $0.last { $0.name == name } }) else {
      throw RouteError(
        status: 404, code: "notFound", message: "There is no transfer of this name.")
    }
    return found.transfer
  }
}
