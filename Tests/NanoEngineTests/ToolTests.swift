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
    let comparison = EngineComparison { ForgetfulEngine() }
    let failure = #expect(throws: ComparisonFailure.self) {
      try comparison.run(seed: ComparisonTests.seed, pairs: 500)
    }
    #expect(failure?.mismatch != nil)
    #expect((failure?.script.steps.count ?? 99) <= 2, "\(failure?.description ?? "")")
  }

  @Test("The conformance suite detects an engine that omits a document")
  func forgetfulConformance() {
    #expect(throws: ConformanceFailure.self) { try EngineConformance { ForgetfulEngine() }.run() }
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
          let found = try engine.read(.call, nil) {
            try $0.explain(question.query, in: Script.collection)
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

/// The reference engine, but its readers omit the last document of a query.
private final class ForgetfulEngine: Engine {
  private let engine = ReferenceEngine()
  var capabilities: Capabilities { engine.capabilities }

  func read<Result>(
    _ scope: ReadScope, _ interruption: Interruption?,
    _ work: (any EngineReader) throws -> Result
  ) throws -> Result {
    try engine.read(scope, interruption) { try work(ForgetfulReader($0)) }
  }
  func write<Result>(
    _ isolation: Isolation, _ interruption: Interruption?,
    _ work: (any EngineWriter) throws -> Result
  ) throws -> Result {
    try engine.write(isolation, interruption, work)
  }
  func compact() throws { try engine.compact() }
  func backup(to destination: BackupDestination, progress: ((Double) throws -> Void)?) throws {
    try engine.backup(to: destination, progress: progress)
  }
  func verify() throws -> [VerificationProblem] { try engine.verify() }
  func statistics() throws -> EngineStatistics { try engine.statistics() }
  func close() throws { try engine.close() }
}

private final class ForgetfulReader: EngineReader {
  private let reader: any EngineReader
  init(_ reader: any EngineReader) { self.reader = reader }

  func find(_ query: Query, in collection: String, _ show: (StoredDocument) throws -> Bool) throws {
    let count = try reader.count(query, in: collection)
    var yielded = 0
    try reader.find(query, in: collection) {
      yielded += 1
      return yielded == count ? false : try show($0)
    }
  }

  func collections() throws -> [CollectionDescription] { try reader.collections() }
  func identity(of collection: String) throws -> CollectionIdentity {
    try reader.identity(of: collection)
  }
  func get(
    _ identity: Identity, in collection: String, _ show: (StoredDocument) throws -> Void
  ) throws -> Bool {
    try reader.get(identity, in: collection, show)
  }
  func count(_ query: Query, in collection: String) throws -> Int {
    try reader.count(query, in: collection)
  }
  func aggregate(_ query: AggregateQuery, in collection: String) throws -> [AggregateRow] {
    try reader.aggregate(query, in: collection)
  }
  func distinct(
    _ field: FieldPath, _ query: Query, in collection: String
  ) throws -> [DocumentValue] {
    try reader.distinct(field, query, in: collection)
  }
  func explain(_ query: Query, in collection: String) throws -> Explanation {
    try reader.explain(query, in: collection)
  }
  func indexes(in collection: String) throws -> [IndexDefinition] {
    try reader.indexes(in: collection)
  }
  func settings(of collection: String) throws -> CollectionSettings {
    try reader.settings(of: collection)
  }
  func observedPaths(in collection: String) throws -> [ObservedPath] {
    try reader.observedPaths(in: collection)
  }
  func metadata(_ name: String) throws -> DocumentValue? { try reader.metadata(name) }
  func metadataNames() throws -> [String] { try reader.metadataNames() }
}
