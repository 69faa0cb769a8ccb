// SPDX-License-Identifier: MIT

package import NanoEngine

/// Compares an engine with the reference semantics on generated collections and conditions.
///
/// Row IDs are compared directly, so the engine must assign them from 1 in ascending order.
///
/// ```swift
/// try EngineComparison { try MyEngine() }.run(seed: 1, pairs: 500)
/// ```
package struct EngineComparison {
  /// The number of queries run on each state of a collection.
  ///
  /// Creating an engine costs about as much as 50 queries.
  private static let requestsPerState = 16

  private let avoided: Set<String>
  private let comparesRevisions: Bool
  private let uniqueIndexes: Bool
  private let makeEngine: () throws -> any Engine

  /// - Parameters:
  ///   - avoided: Strings that the engine is known not to preserve.
  ///   - comparesRevisions: Whether to compare revisions; false for an engine that rewrites documents on its own.
  ///   - uniqueIndexes: Whether to generate unique indexes; false for an engine that does not support them.
  ///   - make: Creates an empty engine.
  package init(
    avoiding avoided: Set<String> = [], comparesRevisions: Bool = true,
    uniqueIndexes: Bool = true, _ make: @escaping () throws -> any Engine
  ) {
    self.avoided = avoided
    self.comparesRevisions = comparesRevisions
    self.uniqueIndexes = uniqueIndexes
    self.makeEngine = make
  }

  /// Runs generated scripts until at least the given number of pairs has been compared.
  ///
  /// - Returns: The number of compared pairs of a condition and a collection.
  /// - Throws: ``ComparisonFailure`` with the smallest script found that reproduces a difference.
  @discardableResult
  package func run(seed: UInt64, pairs: Int) throws -> Int {
    var seeds = SplitMix(seed: seed)
    var compared = 0
    while compared < pairs {
      let scriptSeed = seeds.next()
      var generator = ScriptGenerator(seed: scriptSeed, avoiding: avoided)
      generator.makesUniqueIndexes = uniqueIndexes
      let script = try generator.script(requestsPerState: Self.requestsPerState)
      if try mismatch(script) != nil { throw failure(script, scriptSeed) }
      compared += 3 * Self.requestsPerState
    }
    return compared
  }

  func mismatch(_ script: Script) throws -> Script.Mismatch? {
    let engine = try makeEngine()
    defer { try? engine.close() }
    return try script.play(on: engine, comparesRevisions: comparesRevisions)
  }

  private func failure(_ script: Script, _ seed: UInt64) -> ComparisonFailure {
    let smallest = ScriptShrinker { (try? mismatch($0)).flatMap(\.self) }.shrunk(script)
    return ComparisonFailure(
      seed: seed, script: smallest, mismatch: (try? mismatch(smallest)).flatMap(\.self))
  }
}

/// A difference between an engine and the reference semantics.
package struct ComparisonFailure: Error, CustomStringConvertible {
  package let seed: UInt64
  package let script: Script
  package let mismatch: Script.Mismatch?

  /// The script, both results, and the engine's query plan.
  package var description: String {
    var lines = ["the engine differs from the reference engine (script seed \(seed))"]
    lines += script.steps.flatMap { step in
      switch step {
      case .write(let operations): operations.map { "  write: \($0.short)" }
      case .query(let request): ["  query: \(request.short)"]
      }
    }
    if let mismatch {
      lines += ["  expected: \(mismatch.expected)", "  actual:   \(mismatch.actual)"]
      if let explanation = mismatch.explanation {
        lines.append("  statement: \(explanation.statement)")
        lines += explanation.plan.map { "  plan: \($0)" }
        lines.append("  checked per document: \(explanation.checkedPerDocument ?? "nothing")")
      }
    }
    return lines.joined(separator: "\n")
  }
}
