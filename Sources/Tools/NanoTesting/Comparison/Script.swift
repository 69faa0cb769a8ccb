// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// A sequence of writes and queries that runs on both an engine and the reference engine.
package struct Script: Sendable {
  package enum Step: Sendable, Hashable {
    /// Operations in one transaction.
    case write([Operation])
    case query(EngineRequest)
  }

  /// The writes and queries, in order.
  package var steps: [Step]
  /// The collection that all steps use.
  package static let collection = "things"

  /// Creates a script that starts with an empty engine.
  package init(_ steps: [Step]) { self.steps = steps }

  /// A difference between an engine and the reference engine.
  package struct Mismatch: Sendable, Hashable {
    package var step: Int
    package var expected: String
    package var actual: String
    package var explanation: Explanation?
  }

  /// Runs the script on an empty engine.
  ///
  /// - Returns: The first difference, or nil if there is none.
  package func play(on engine: any Engine, comparesRevisions: Bool = true) throws -> Mismatch? {
    let reference = ReferenceEngine()
    for (index, step) in steps.enumerated() {
      let difference: Mismatch? =
        switch step {
        case .write(let operations): try write(operations, engine, reference, index)
        case .query(let request):
          try execute(request, engine, reference, index, comparesRevisions)
        }
      if let difference { return difference }
    }
    return try problems(of: engine)
  }

  /// Verifies the engine; no other program has modified its database.
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
    let operations = Operation.supported(operations, engine.capabilities)
    return try reference.write(nil) { referenceWriter in
      try engine.write(nil) { writer in
        for operation in operations {
          // The row IDs that the engine skips are skipped in the reference engine, too.
          var highest: [Int64?] = []
          let actual = try operation.apply(to: writer, Self.collection) {
            highest.append(try writer.highestRowID(in: Self.collection))
          }
          var skipped = highest.makeIterator()
          let expected = try operation.apply(to: referenceWriter, Self.collection) {
            (referenceWriter as? ReferenceWriter)?.skipRowIDs(
              through: skipped.next() ?? nil, in: Self.collection)
          }
          if !expected.agrees(with: actual) {
            return Mismatch(step: step, expected: "\(expected)", actual: "\(actual): \(operation)")
          }
        }
        return nil
      }
    }
  }

  private func execute(
    _ request: EngineRequest, _ engine: any Engine, _ reference: ReferenceEngine, _ step: Int,
    _ comparesRevisions: Bool
  ) throws -> Mismatch? {
    let expected = try reference.read(.snapshot, nil) {
      try request.execute($0, Self.collection, comparesRevisions: comparesRevisions)
    }
    // A regular expression taken from a field may be invalid, and engines may detect that at different points.
    if case .failed(.invalidArgument) = expected { return nil }
    return try engine.read(.snapshot, nil) { reader in
      let actual = try request.execute(
        reader, Self.collection, comparesRevisions: comparesRevisions)
      guard try !expected.agrees(with: actual, for: request, reference) else { return nil }
      return Mismatch(
        step: step, expected: "\(expected)", actual: "\(actual)",
        explanation: try? reader.explain(request.query, in: Self.collection))
    }
  }
}
