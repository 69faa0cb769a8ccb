// SPDX-License-Identifier: MIT

package import NanoEngine

/// The requirements of the engine contract, as named checks.
///
/// Checks throw a ``ConformanceFailure`` instead of depending on a test library, so that they run in any test
/// framework:
///
/// ```swift
/// @Test("My engine conforms to the contract", arguments: EngineConformance.checks)
/// func contract(check: EngineConformance.Check) throws {
///   try EngineConformance { try MyEngine() }.run(check)
/// }
/// ```
///
/// Use ``EngineComparison`` to check the semantics of conditions.
package struct EngineConformance {
  /// A single requirement of the engine contract.
  package struct Check: Sendable, CustomStringConvertible {
    package let name: String
    let run: @Sendable (Probe) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (Probe) throws -> Void) {
      self.name = name
      self.run = run
    }
    /// The name of the check.
    package var description: String { name }
  }

  /// All checks, from basic to advanced, so that the first failure is the easiest to understand.
  package static let checks: [Check] =
    documents + rowIDs + collections + names + queries + related + versions + transactions
    + isolation
    + indexes
    + uniqueIndexes + everythingIndex + fullTextIndexes + settings + metadata + maintenance
    + durability
    + changes + feeds + previousBodies + blobs + expiry

  private let make: () throws -> any Engine
  private let reopen: ((any Engine) throws -> any Engine)?

  /// - Parameters:
  ///   - reopen: Closes an engine that `make` returned and reopens its database. Required for engines with
  ///     ``Capabilities/durable``.
  ///   - make: Creates an engine on an empty database that no other engine uses.
  package init(
    reopen: ((any Engine) throws -> any Engine)? = nil, _ make: @escaping () throws -> any Engine
  ) {
    self.make = make
    self.reopen = reopen
  }

  /// Runs one check on a new engine inside a ``ContractCheckingEngine``; a check of an unsupported capability passes.
  package func run(_ check: Check) throws {
    let probe = Probe(try ContractCheckingEngine(make()), reopen: reopen)
    defer { try? probe.engine.close() }
    do {
      try check.run(probe)
    } catch let failure as ConformanceFailure {
      throw failure.of(check.name)
    }
  }

  /// Runs all checks, and throws the first failure.
  package func run() throws { for check in Self.checks { try run(check) } }
}

/// A violation of the engine contract.
package struct ConformanceFailure: Error, CustomStringConvertible {
  package private(set) var check = ""
  package let message: String
  /// The source file of the check.
  package let file: String
  /// The source line of the check.
  package let line: Int

  init(_ message: String, _ file: StaticString, _ line: UInt) {
    self.message = message
    self.file = "\(file)"
    self.line = Int(line)
  }

  func of(_ check: String) -> ConformanceFailure {
    var copy = self
    copy.check = check
    return copy
  }

  /// The name of the check, the failed expectation, and the source location.
  package var description: String { "\(check): \(message) (\(file):\(line))" }
}
