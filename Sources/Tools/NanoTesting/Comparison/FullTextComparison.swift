// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// Compares searches by text on an engine with the definition, after generated writes, in the transaction and
/// after it, with the ranks.
package struct FullTextComparison {
  private let seed: UInt64

  package init(seed: UInt64) { self.seed = seed }

  /// The first answer that differs; nil if none does.
  ///
  /// - Parameter engine: An empty one.
  package func difference(on engine: any Engine) throws -> String? {
    var made = FullTextGenerator(seed)
    let engines: [any Engine] = [ReferenceEngine(), engine]
    try made.makeIndexes(engines)
    for round in 0..<8 {
      let steps = (0..<made.random.number(1...12)).map { _ in made.step() }
      let queries = (0..<20).map { _ in made.query() }
      var answers: [[FullTextAnswers]] = []
      for engine in engines {
        var found: [FullTextAnswers] = []
        try? engine.write(nil) { writer in
          for (number, step) in steps.enumerated() {
            try step.run(writer)
            if number == steps.count / 2 { found.append(try FullTextAnswers(queries, writer)) }
          }
          found.append(try FullTextAnswers(queries, writer))
          if round % 3 == 2 { throw StoreError(.invalidArgument, "undone") }
        }
        found.append(try engine.read(.snapshot, nil) { try FullTextAnswers(queries, $0) })
        answers.append(found)
      }
      for (expected, actual) in zip(answers[0], answers[1]) {
        if let difference = expected.difference(from: actual, queries) {
          return "round \(round): \(difference)"
        }
      }
    }
    return nil
  }
}
