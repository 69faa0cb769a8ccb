// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// Changes and questions in a row, played to an engine and to the reference engine.
package struct Script: Sendable {
  package enum Step: Sendable, Hashable {
    /// One transaction.
    case write([Operation])
    case ask(EngineRequest)
  }

  /// What is done and asked, in order.
  package var steps: [Step]
  /// The collection that all steps are about.
  package static let collection = "things"

  /// Steps in order, on an engine that is empty before the first.
  package init(_ steps: [Step]) { self.steps = steps }

  /// Where an engine and the definition part.
  package struct Mismatch: Sendable, Hashable {
    package var step: Int
    package var expected: String
    package var actual: String
    package var explanation: Explanation?
  }

  /// - Returns: The first difference, nil if there is none.
  package func play(on engine: any Engine, comparesRevisions: Bool = true) throws -> Mismatch? {
    let reference = ReferenceEngine()
    for (index, step) in steps.enumerated() {
      let difference: Mismatch? =
        switch step {
        case .write(let operations): try write(operations, engine, reference, index)
        case .ask(let question):
          try ask(question, engine, reference, index, comparesRevisions)
        }
      if let difference { return difference }
    }
    return try problems(of: engine)
  }

  /// What an engine says of a database that nobody else has touched.
  private func problems(of engine: any Engine) throws -> Mismatch? {
    let problems = try engine.verify()
    if problems.isEmpty { return nil }
    return Mismatch(
      step: steps.count - 1, expected: "no problems",
      actual: problems.map(\.message).joined(separator: "; "))
  }

  private func write(
    _ operations: [Operation], _ engine: any Engine, _ reference: ReferenceEngine, _ step: Int
  ) throws -> Mismatch? {
    let operations = Operation.possible(operations, engine.capabilities)
    return try reference.write(nil) { expecting in
      try engine.write(nil) { writer in
        for operation in operations {
          let expected = try operation.apply(to: expecting, Self.collection)
          let actual = try operation.apply(to: writer, Self.collection)
          if !expected.agrees(with: actual) {
            return Mismatch(step: step, expected: "\(expected)", actual: "\(actual): \(operation)")
          }
        }
        return nil
      }
    }
  }

  private func ask(
    _ question: EngineRequest, _ engine: any Engine, _ reference: ReferenceEngine, _ step: Int,
    _ comparesRevisions: Bool
  ) throws -> Mismatch? {
    let expected = try reference.read(.snapshot, nil) {
      try question.ask($0, Self.collection, comparesRevisions: comparesRevisions)
    }
    // A regular expression made of a field need not parse; how far an engine reads before it sees
    // that is its own affair.
    if case .failed(.invalidArgument) = expected { return nil }
    return try engine.read(.snapshot, nil) { reader in
      let actual = try question.ask(
        reader, Self.collection, comparesRevisions: comparesRevisions)
      guard try !expected.agrees(with: actual, reference) else { return nil }
      return Mismatch(
        step: step, expected: "\(expected)", actual: "\(actual)",
        explanation: try? reader.explain(question.query, in: Self.collection))
    }
  }
}
