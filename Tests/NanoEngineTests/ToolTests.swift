// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoQuery
import NanoSQLite
import NanoTesting
import Testing

/// A tool that never fails proves nothing, so each one is tested with a faulty engine.
@Suite("Engine testing tools")
struct ToolTests {
  @Test("The comparison detects an engine that omits a document, and reduces the failing case")
  func forgetfulEngine() throws {
    let comparison = EngineComparison { FaultyEngine(.omittedDocument) }
    let failure = #expect(throws: ComparisonFailure.self) {
      try comparison.run(seed: ComparisonTests.seed, pairs: 500)
    }
    #expect(failure?.mismatch != nil)
    #expect((failure?.script.steps.count ?? 99) <= 2, "\(failure?.description ?? "")")
  }

  @Test(
    "The comparison detects an engine whose counts, sums, extremes or rows are off by one",
    arguments: [FaultyEngine.Fault.count, .sum, .extreme, .pipelineField])
  func numbersOffByOne(fault: FaultyEngine.Fault) {
    #expect(throws: ComparisonFailure.self) {
      try EngineComparison { FaultyEngine(fault) }.run(seed: ComparisonTests.seed, pairs: 5000)
    }
  }

  @Test("Results next to large numbers must be exact, except sums and averages of doubles")
  func exactAggregates() throws {
    let numbers: [DocumentValue] = [.double(0.1), .double(0.2)]
    let request = EngineRequest.aggregate(
      AggregateQuery(aggregates: [
        .count, .countOf("n"), .max("large"), .sum("one"), .sum("n"), .average("n"),
      ]))
    let reference = try Self.reference(
      numbers.map { ["n": $0, "one": 1, "large": .int(.max), "huge": .double(1e300)] })
    let expected = try reference.read(.snapshot, nil) {
      try request.execute($0, Script.collection)
    }
    func agrees(_ values: [DocumentValue]) throws -> Bool {
      try expected.agrees(
        with: .groups([AggregateRow(group: [], values: values)]), for: request, reference)
    }
    let values: [DocumentValue] = [2, 2, .int(.max), 2, .double(0.3), .double(0.15)]

    #expect(try agrees(values))
    let wrong: [DocumentValue] = [3, 3, .int(.max - 1), 3, .double(0.3001), 0]
    for index in values.indices {
      var others = values
      others[index] = wrong[index]
      #expect(try !agrees(others), "value \(index)")
    }
  }

  /// Returns whether another engine may return these aggregates of a field with these values.
  private static func agree(
    _ numbers: [DocumentValue], _ aggregates: [Aggregate], _ actual: [DocumentValue]
  ) throws -> Bool {
    let request = EngineRequest.aggregate(AggregateQuery(aggregates: aggregates))
    let reference = try Self.reference(numbers.map { ["n": $0] })
    let expected = try reference.read(.snapshot, nil) {
      try request.execute($0, Script.collection)
    }
    return try expected.agrees(
      with: .groups([AggregateRow(group: [], values: actual)]), for: request, reference)
  }

  private static func agree(_ numbers: [DocumentValue], sum: DocumentValue) throws -> Bool {
    try agree(numbers, [.sum("n")], [sum])
  }

  private static let large = DocumentValue.double(.greatestFiniteMagnitude)
  private static let lowest = DocumentValue.double(-.greatestFiniteMagnitude)
  private static let infinity = DocumentValue.double(.infinity)
  private static let minusInfinity = DocumentValue.double(-.infinity)

  @Test("A sum that overflows in one order of addition agrees with one that does not")
  func overflowingSum() throws {
    let overflowing = [Self.large, Self.large, Self.lowest]

    #expect(try Self.agree(overflowing, sum: Self.large))
    #expect(try !Self.agree(overflowing, sum: .double(.nan)))
    #expect(try Self.agree(overflowing + [Self.minusInfinity], sum: Self.minusInfinity))
  }

  @Test("A sum or average with an infinite number is that infinity, or NaN with both")
  func infiniteNumbers() throws {
    let values: [DocumentValue] = [Self.infinity, 1]

    #expect(try Self.agree(values, [.sum("n"), .average("n")], [Self.infinity, Self.infinity]))
    for wrong in [1, Self.minusInfinity, .double(.nan)] as [DocumentValue] {
      #expect(try !Self.agree(values, [.sum("n"), .average("n")], [wrong, Self.infinity]))
      #expect(try !Self.agree(values, [.sum("n"), .average("n")], [Self.infinity, wrong]))
    }
    #expect(try Self.agree([Self.infinity, Self.minusInfinity], sum: .double(.nan)))
    #expect(try !Self.agree([Self.infinity, Self.minusInfinity], sum: 0))
    #expect(try !Self.agree([Self.infinity, Self.large, Self.large], sum: Self.large))
  }

  @Test("A sum of integers is exact, unless a partial sum exceeds 64 bits")
  func integerSums() throws {
    let odd: DocumentValue = 9_007_199_254_740_993

    #expect(try Self.agree([odd, 0], sum: odd))
    #expect(try !Self.agree([odd, 0], sum: .double(9_007_199_254_740_992)))
    #expect(try !Self.agree([odd, 0], sum: 9_007_199_254_740_992))
    // The same numbers in an order in which a partial sum exceeds 64 bits, and in one without.
    #expect(try Self.agree([.int(.max), 1, -5], sum: .int(.max - 4)))
    #expect(try Self.agree([.int(.max), -5, 1], sum: .double(0x1p63)))
    #expect(try !Self.agree([.int(.max), -5, 1], sum: .int(.max - 5)))
  }

  @Test("A sum of decimals is exact, and a server may return a sum of doubles as an integer")
  func otherSums() throws {
    let decimal = DocumentValue.decimal(try #require(DecimalValue("9007199254740992.5")))

    #expect(try Self.agree([decimal, 0], sum: decimal))
    #expect(try !Self.agree([decimal, 0], sum: .double(9_007_199_254_740_992)))
    #expect(try Self.agree([.double(1e16), 1], sum: 10_000_000_000_000_001))
    #expect(try !Self.agree([.double(1e16), 1], sum: 10_000_000_000_001_000))
  }

  @Test("Selected fields of a pipeline's rows must be exact")
  func exactRows() throws {
    let fields = [Pipeline.NamedExpression("n", .field("n"))]
    let request = EngineRequest.pipeline(Pipeline([.select(fields)]), Query())
    let reference = try Self.reference([["n": 5, "huge": .double(1e300)]])
    let expected = try reference.read(.snapshot, nil) {
      try request.execute($0, Script.collection)
    }

    #expect(try expected.agrees(with: .objects([["n": 5]]), for: request, reference))
    #expect(try !expected.agrees(with: .objects([["n": 7]]), for: request, reference))
  }

  private static func reference(_ objects: [DocumentObject]) throws -> ReferenceEngine {
    let engine = ReferenceEngine()
    try engine.write(nil) { writer in
      for object in objects {
        _ = try GeneratedDocument(object).new { try writer.insert($0, into: Script.collection) }
      }
    }
    return engine
  }

  @Test("The full-text comparison detects ranked results in another order, and a missing one")
  func rankedOrder() throws {
    let engine = ReferenceEngine()
    try FullTextGenerator(1).makeIndexes([engine])
    try engine.write(nil) { writer in
      for text in ["gin", "gin gin tonic", "rum", "rum", "rum", "rum"] {
        _ = try GeneratedDocument(["a": .string(text)]).new { try writer.insert($0, into: "c") }
      }
    }
    var query = Query(.search("gin", in: "w"))
    query.ranking = FullTextRanking()
    let found = try engine.read(.snapshot, nil) { try FullTextResults([query], $0) }
    var (reversed, shorter) = (found, found)
    reversed.results[0].rows.reverse()
    reversed.results[0].ranks.reverse()
    shorter.results[0].rows.removeLast()
    shorter.results[0].ranks.removeLast()

    #expect(found.results[0].rows.count == 2)
    #expect(found.difference(from: found, [query]) == nil)
    #expect(found.difference(from: reversed, [query]) != nil)
    #expect(found.difference(from: shorter, [query]) != nil)
  }

  @Test("The full-text comparison detects a write that fails at its end")
  func failedCommit() throws {
    let comparison = FullTextComparison(seed: 1)

    #expect(try comparison.difference(on: ReferenceEngine()) == nil)
    // The second of the compared writes: the first write creates the indexes.
    #expect(throws: StoreError.self) {
      try comparison.difference(on: FaultyEngine(.failedCommit(3)))
    }
  }

  @Test(
    "The conformance suite reports a write that fails while another thread waits for its documents",
    .timeLimit(.minutes(10)))
  func failedConcurrentWrite() throws {
    let check = try #require(
      EngineConformance.checks.first(where: {
        $0.name == "A single call sees one state during concurrent writes"
      }))

    let failure = #expect(throws: StoreError.self) {
      try EngineConformance { FaultyEngine(.failedCommit(2)) }.run(check)
    }
    #expect(failure?.code == .full)
  }

  @Test("The conformance suite detects an engine that omits a document")
  func forgetfulConformance() {
    #expect(throws: ConformanceFailure.self) {
      try EngineConformance { FaultyEngine(.omittedDocument) }.run()
    }
  }

  @Test("The conformance suite detects an engine that normalizes text")
  func normalizingEngine() throws {
    let check = try #require(
      EngineConformance.checks.first(where: {
        $0.name == "Every generated value is stored byte for byte"
      }))

    #expect(throws: ConformanceFailure.self) {
      try EngineConformance { FaultyEngine(.normalizedText) }.run(check)
    }
  }

  @Test("Generated queries cover index scans, plain SQL and our SQL functions")
  func coverage() throws {
    var (queries, indexed, exact) = (0, 0, 0)
    var seeds = SplitMix(seed: ComparisonTests.seed)
    for _ in 0..<15 {
      var generator = ScriptGenerator(seed: seeds.next())
      let engine = try SQLiteEngine(.memory, SQLiteConfiguration())
      for step in try generator.script(requestsPerState: 10).steps {
        switch step {
        case .write(let operations):
          try engine.write(nil) { writer in
            for operation in operations { _ = try operation.apply(to: writer, Script.collection) }
          }
        case .query(let question):
          let found: Explanation
          do {
            found = try engine.read(.call, nil) {
              try $0.explain(question.query, in: Script.collection)
            }
          } catch let error as StoreError where error.code == .unsupported {
            // Some generated queries are ones that every engine rejects.
            continue
          }
          queries += 1
          if !found.indexes.isEmpty { indexed += 1 }
          if found.checkedPerDocument == nil, question.query.condition != .constant(true) {
            exact += 1
          }
        }
      }
    }
    #expect(indexed * 10 > queries, "\(indexed) of \(queries) use an index")
    // Fewer for collections with defaults, which are a third of them.
    #expect(exact * 60 > queries, "\(exact) of \(queries) are plain SQL")
  }

  @Test("Mixed values include every case of a document value, and a kind generates its own case")
  func valueKinds() {
    var generator = ValueGenerator(random: SplitMix(seed: 1))
    let kinds = ValueGenerator.Kind.single

    let mixed = (0..<2000).map { _ in ValueGenerator.Kind(of: generator.value(.mixed)) }

    #expect(Set(mixed) == Set(kinds))
    for kind in kinds { #expect(ValueGenerator.Kind(of: generator.value(kind)) == kind) }
  }

  @Test("A seed generates the same script each time")
  func deterministic() throws {
    var (one, other) = (ScriptGenerator(seed: 7), ScriptGenerator(seed: 7))
    // As text, because NaN does not equal itself.
    #expect(
      try "\(one.script(requestsPerState: 5).steps)" == "\(other.script(requestsPerState: 5).steps)"
    )
  }

  @Test("The failing engine fails the specified call, and the transaction is rolled back")
  func failing() throws {
    let engine = FailingEngine(ReferenceEngine())
    let full = StoreError(.full, "No space is left for the database")
    func insertTwo() throws {
      try engine.write(nil) { writer in
        for _ in 0..<2 {
          _ = try GeneratedDocument(["n": 1]).new { try writer.insert($0, into: "c") }
        }
      }
    }

    // Entering the closure, two inserts and the commit.
    for call in 1...4 {
      engine.fail(at: call, full)
      #expect(throws: full) { try insertTwo() }
      engine.succeed()
      #expect(try engine.read(.call, nil) { try $0.count(Query(), in: "c") } == 0)
    }
    engine.fail(at: 5, full)
    try insertTwo()
    #expect(engine.calls == 4)
    #expect(throws: full) { try engine.statistics() }
  }

  @Test("The failing engine forwards calls on a single document, and fails them too")
  func failingFastPaths() throws {
    let engine = FailingEngine(ReferenceEngine())
    let full = StoreError(.full, "No space is left for the database")
    let id = try engine.write(nil) { writer in
      try GeneratedDocument(["n": 1], key: .text("a")).new { try writer.insert($0, into: "c") }
    }
    let calls: [() throws -> Void] = [
      { _ = try engine.get(.rowID(id), in: "c", nil) { _ in } },
      { try engine.get(keys: [.text("a")], in: "c", nil) { _ in } },
      {
        try GeneratedDocument([:]).new {
          _ = try engine.put($0, newKey: .text("b"), replacing: true, into: "c", nil)
        }
      },
    ]

    for call in calls {
      engine.succeed()
      try call()
      #expect(engine.calls == 1)
      engine.fail(at: 1, full)
      #expect(throws: full) { try call() }
    }
  }
}
