// SPDX-License-Identifier: MIT

package import NanoEngine

/// What every engine must do, as named checks.
///
/// They throw a ``ConformanceFailure`` rather than use a test library, so that an engine can run
/// them in whatever tests it has:
///
/// ```swift
/// @Test("My engine keeps the contract", arguments: EngineConformance.checks)
/// func contract(check: EngineConformance.Check) throws {
///   try EngineConformance { try MyEngine() }.run(check)
/// }
/// ```
///
/// What conditions mean is compared by ``EngineComparison``.
package struct EngineConformance {
  /// One claim about engines.
  package struct Check: Sendable, CustomStringConvertible {
    package let name: String
    let run: @Sendable (Probe) throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (Probe) throws -> Void) {
      self.name = name
      self.run = run
    }
    /// The claim.
    package var description: String { name }
  }

  /// All that is checked, in the order in which failures are best understood.
  package static let checks: [Check] =
    documents + rowIDs + collections + names + queries + versions + transactions + isolation
    + indexes
    + uniqueIndexes + everythingIndex + textIndexes + settings + metadata + maintenance + durability
    + changes

  private let make: () throws -> any Engine
  private let reopen: ((any Engine) throws -> any Engine)?

  /// - Parameters:
  ///   - reopen: Closes an engine that ``make`` gave and opens its database again; needed by engines
  ///     that say to be ``Capabilities/durable``.
  ///   - make: Makes an engine on a database that nobody else has and that is empty.
  package init(
    reopen: ((any Engine) throws -> any Engine)? = nil, _ make: @escaping () throws -> any Engine
  ) {
    self.make = make
    self.reopen = reopen
  }

  /// Runs one check on an engine of its own. A check of what an engine cannot do passes.
  package func run(_ check: Check) throws {
    let probe = Probe(try make(), reopen: reopen)
    defer { try? probe.engine.close() }
    do {
      try check.run(probe)
    } catch let failure as ConformanceFailure {
      throw failure.of(check.name)
    }
  }

  /// Runs all checks and throws the first failure.
  package func run() throws { for check in Self.checks { try run(check) } }
}

/// An engine does not do what it must.
package struct ConformanceFailure: Error, CustomStringConvertible {
  package private(set) var check = ""
  package let message: String
  /// The line of the check, for those who read it.
  package let file: String
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

  /// The check, what was expected, and where.
  package var description: String { "\(check): \(message) (\(file):\(line))" }
}
