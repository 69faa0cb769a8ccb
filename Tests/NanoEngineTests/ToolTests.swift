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

  @Test("A sum that overflows in one order of addition agrees with one that does not")
  func overflowingSum() throws {
    let large = Double.greatestFiniteMagnitude
    let request = EngineRequest.aggregate(AggregateQuery(aggregates: [.sum("n")]))
    let reference = try Self.reference([large, large, -large].map { ["n": .double($0)] })
    let expected = try reference.read(.snapshot, nil) {
      try request.execute($0, Script.collection)
    }
    let actual = EngineRequest.Response.groups([
      AggregateRow(group: [], values: [.double(large)])
    ])

    #expect(try expected.agrees(with: actual, for: request, reference))
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
