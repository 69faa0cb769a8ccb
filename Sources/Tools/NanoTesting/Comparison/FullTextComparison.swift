// SPDX-License-Identifier: MIT

import NanoDocument
package import NanoEngine

/// Compares full-text searches on an engine with the reference engine, including ranks.
///
/// Runs after generated writes, both inside the transaction and after it.
package struct FullTextComparison {
  private let seed: UInt64

  package init(seed: UInt64) { self.seed = seed }

  private struct Rollback: Error {}

  /// Returns a description of the first difference, or nil if there is none.
  ///
  /// - Parameter engine: An empty engine.
  /// - Throws: The error of a write, none of which may fail.
  package func difference(on engine: any Engine) throws -> String? {
    var generator = FullTextGenerator(seed)
    let engines: [any Engine] = [ReferenceEngine(), engine]
    try generator.makeIndexes(engines)
    for round in 0..<8 {
      let steps = (0..<generator.random.number(1...12)).map { _ in generator.step() }
      let queries = (0..<20).map { _ in generator.query() }
      var results: [[FullTextResults]] = []
      for engine in engines {
        var found: [FullTextResults] = []
        do {
          try engine.write(nil) { writer in
            for (number, step) in steps.enumerated() {
              try step.run(writer)
              if number == steps.count / 2 { found.append(try FullTextResults(queries, writer)) }
            }
            found.append(try FullTextResults(queries, writer))
            if round % 3 == 2 { throw Rollback() }
          }
        } catch is Rollback {}
        found.append(try engine.read(.snapshot, nil) { try FullTextResults(queries, $0) })
        results.append(found)
      }
      let last = try engine.read(.snapshot, nil) {
        try $0.highestRowID(in: "c")
      }
      try engines[0].write(nil) {
        ($0 as? ReferenceWriter)?.skipRowIDs(through: last, in: "c")
      }
      for (expected, actual) in zip(results[0], results[1]) {
        if let difference = expected.difference(from: actual, queries) {
          return "round \(round): \(difference)"
        }
      }
    }
    return nil
  }
}
