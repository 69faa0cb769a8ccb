// SPDX-License-Identifier: MIT

import NanoDocument

/// The identity of the checked engine, and the receiver of its violations.
struct ContractReporter: Sendable {
  let engine: String
  let handler: ContractViolation.Handler

  func report(_ rule: ContractViolation.Rule, _ call: StaticString, _ detail: String? = nil) {
    handler(ContractViolation(engine: engine, call: "\(call)", rule: rule, detail: detail))
  }
}

/// The checks of one call in progress. Confined to the call's thread.
final class ContractCheck {
  let call: StaticString
  private let reporter: ContractReporter
  /// The error that a closure of the caller threw.
  private var thrown: (any Error)?
  /// Whether the engine must not call the caller's closure again.
  private var hasEnded = false
  /// The number of times that the caller's closure was called.
  private(set) var count = 0

  init(_ reporter: ContractReporter, _ call: StaticString) {
    self.reporter = reporter
    self.call = call
  }

  func report(_ rule: ContractViolation.Rule, _ detail: String? = nil) {
    reporter.report(rule, call, detail)
  }

  func require(_ condition: Bool, _ rule: ContractViolation.Rule) {
    if !condition { report(rule) }
  }

  /// Runs a closure of the caller, whose error the engine must pass through.
  func callerClosure<Result>(_ work: () throws -> Result) throws -> Result {
    require(!hasEnded, .calledAfterEnd)
    count += 1
    do {
      return try work()
    } catch {
      thrown = error
      hasEnded = true
      throw error
    }
  }

  /// Runs a closure of the caller that returns whether it wants more results, of which there are at most `limit`.
  func visit(limit: Int?, _ work: () throws -> Bool) throws -> Bool {
    let wantsMore = try callerClosure(work)
    if let limit { require(count <= limit, .beyondLimit) }
    hasEnded = !wantsMore
    return wantsMore
  }

  /// Runs the engine's implementation and checks how it ends.
  func run<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      let result = try work()
      require(thrown == nil, .swallowedError)
      return result
    } catch {
      check(error)
      throw error
    }
  }

  private func check(_ error: any Error) {
    if let thrown {
      if let error = error as? StoreError, Self.takesPrecedence.contains(error.code) { return }
      guard !Self.isSame(error, as: thrown) else { return }
      return report(.changedError, "\(Self.kind(of: thrown)) by \(Self.kind(of: error))")
    }
    if error is CancellationError { return }
    guard let error = error as? StoreError else {
      return report(.foreignError, "\(type(of: error))")
    }
    guard DeclaredErrors.codes(of: call).contains(error.code) else {
      return report(.undeclaredError, error.code.rawValue)
    }
  }

  /// The failures that take precedence over the closure's error, because the transaction cannot go on: they also prevent
  /// the rollback to a savepoint, or the reading of metadata after it. A canceled statement inside the closure can have failed
  /// with another error, for example of its text.
  private static let takesPrecedence: Set<StoreError.Code> = [
    .closed, .connectionLost, .full, .inputOutput, .interrupted, .locked, .outOfMemory,
  ]

  private static func kind(of error: any Error) -> String {
    (error as? StoreError)?.code.rawValue ?? "\(type(of: error))"
  }

  /// Returns whether an error is the one that a closure threw. An engine may add details to a `StoreError`, such
  /// as the collection. Errors of other types cannot be compared by value.
  private static func isSame(_ error: any Error, as thrown: any Error) -> Bool {
    if let error = error as? StoreError, let thrown = thrown as? StoreError {
      return error.code == thrown.code && error.message == thrown.message
        && thrown.details.allSatisfy { error[$0.name] == $0.value }
    }
    return type(of: error) == type(of: thrown)
  }
}
