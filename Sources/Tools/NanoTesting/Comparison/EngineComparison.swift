// SPDX-License-Identifier: MIT

package import NanoEngine

/// Compares an engine with the definition on generated collections and conditions.
///
/// Row ids are compared as they are, so the engine must count them from one.
///
/// ```swift
/// try EngineComparison { try MyEngine() }.run(seed: 1, pairs: 500)
/// ```
package struct EngineComparison {
  /// Conditions that one state of a collection is asked. A new engine costs as much as some fifty
  /// of them.
  private static let questionsPerState = 16

  private let avoided: Set<String>
  private let comparesRevisions: Bool
  private let uniqueIndexes: Bool
  private let make: () throws -> any Engine

  /// - Parameters:
  ///   - avoided: Texts that the engine is known not to keep.
  ///   - comparesRevisions: Whether documents have the same revisions; not where an engine writes them
  ///     anew by itself.
  ///   - uniqueIndexes: Whether some indexes are unique; not where the engine has none.
  ///   - make: Makes an empty engine.
  package init(
    avoiding avoided: Set<String> = [], comparesRevisions: Bool = true,
    uniqueIndexes: Bool = true, _ make: @escaping () throws -> any Engine
  ) {
    self.avoided = avoided
    self.comparesRevisions = comparesRevisions
    self.uniqueIndexes = uniqueIndexes
    self.make = make
  }

  /// - Returns: How many pairs of a condition and a collection were compared.
  /// - Throws: ``ComparisonFailure`` with the smallest script that shows a difference.
  @discardableResult
  package func run(seed: UInt64, pairs: Int) throws -> Int {
    var seeds = SplitMix(seed: seed)
    var compared = 0
    while compared < pairs {
      let scriptSeed = seeds.next()
      var generator = ScriptGenerator(seed: scriptSeed, avoiding: avoided)
      generator.makesUniqueIndexes = uniqueIndexes
      let script = try generator.script(questions: Self.questionsPerState)
      if try mismatch(script) != nil { throw failure(script, scriptSeed) }
      compared += 3 * Self.questionsPerState
    }
    return compared
  }

  func mismatch(_ script: Script) throws -> Script.Mismatch? {
    let engine = try make()
    defer { try? engine.close() }
    return try script.play(on: engine, comparesRevisions: comparesRevisions)
  }

  private func failure(_ script: Script, _ seed: UInt64) -> ComparisonFailure {
    let smallest = ScriptShrinker { (try? mismatch($0)).flatMap(\.self) }.shrunk(script)
    return ComparisonFailure(
      seed: seed, script: smallest, mismatch: (try? mismatch(smallest)).flatMap(\.self))
  }
}

/// An engine and the definition differ.
package struct ComparisonFailure: Error, CustomStringConvertible {
  package let seed: UInt64
  package let script: Script
  package let mismatch: Script.Mismatch?

  /// The script, both answers, and how the engine ran the query.
  package var description: String {
    var lines = ["the engine differs from the definition (script seed \(seed))"]
    lines += script.steps.flatMap { step in
      switch step {
      case .write(let operations): operations.map { "  write: \($0.short)" }
      case .ask(let question): ["  ask: \(question.short)"]
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
