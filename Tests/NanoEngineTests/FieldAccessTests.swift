// SPDX-License-Identifier: MIT

import NanoDocument
import NanoEngine
import NanoSQLite
import NanoTesting
import Testing

/// Our `json_extract` replaces SQLite's in indexes that plain SQLite must also maintain, so their results must be
/// identical.
@Suite("Our json_extract compared with SQLite's")
struct FieldAccessTests {
  @Test("Results are the same for any JSON and any path", arguments: 0..<4)
  func random(part: UInt64) throws {
    let seed = ComparisonTests.seed &+ part
    print("field access: NANOSTORE_SEED=\(ComparisonTests.seed) (part \(part))")
    var json = RandomJSON(random: SplitMix(seed: seed))
    let (ours, plain) = try (Self.engine(fast: true), Self.engine(fast: false))
    for _ in 0..<600 {
      let text = json.text()
      let paths = (0..<10).map { _ in json.random.pick(RandomJSON.paths) }
      let expected = try Self.extract(paths, from: .string(text), plain)
      let actual = try Self.extract(paths, from: .string(text), ours)
      for (index, path) in paths.enumerated() where expected[index] != actual[index] {
        Issue.record(
          "seed \(seed): \(path) of \(text): expected \(expected[index]), got \(actual[index])")
        return
      }
    }
  }

  @Test("Results are the same for arguments that are not text")
  func otherTypes() throws {
    let (ours, plain) = try (Self.engine(fast: true), Self.engine(fast: false))
    let bodies: [DocumentValue] = [.null, .int(5), .double(1.5), .string(""), .string(" ")]
    let paths: [DocumentValue] = [.null, .int(0), .double(1.5), .string("$"), .string("$.a")]
    for body in bodies + [.string("[1,{\"a\":2}]"), .string("{\"a\":[1]}")] {
      for path in paths {
        let expected = try Self.row(Self.statement, [body, path], plain)
        let actual = try Self.row(Self.statement, [body, path], ours)
        #expect(expected == actual, "json_extract(\(body), \(path))")
      }
    }
  }

  @Test("More than one path returns an array, computed by SQLite's function")
  func severalPaths() throws {
    for isFast in [true, false] {
      let row = try Self.row(
        "SELECT json_extract(?1, '$.a', '$.b')", [.string(#"{"a":1,"b":"x"}"#)],
        Self.engine(fast: isFast))
      #expect(row == .values([.string(#"[1,"x"]"#)]))
    }
  }

  /// The one known difference: our function stops reading at the field and does not detect damage after it. SQLite's
  /// own function, which other programs write through, rejects such a body in an index.
  @Test("A field before the damage in a body is still extracted")
  func damagedBody() throws {
    let engine = try Self.engine(fast: true)
    let before = try Self.row("SELECT json_extract(?1, '$.a')", [.string(#"{"a":1,"b":}"#)], engine)
    #expect(before == .values([.int(1)]))
    let after = try Self.row("SELECT json_extract(?1, '$.c')", [.string(#"{"a":1,"b":}"#)], engine)
    #expect(after == .failed)
  }

  @Test("An array stays JSON if an index has the same expression")
  func indexedArray() throws {
    let value = #"json_extract(body, '$."tags"')"#
    let rows = try [true, false].map { isFast -> Row in
      let engine = try Self.engine(fast: isFast)
      try engine.write(nil) { writer in
        try writer.createIndex(IndexDefinition(columns: [.init("tags")]), in: "c")
        _ = try GeneratedDocument(["tags": ["a"]]).new { try writer.insert($0, into: "c") }
      }
      return try Self.row(
        "SELECT json_object('t', \(value)) FROM c WHERE \(value) IS NOT NULL", [], engine)
    }
    #expect(rows[0] == rows[1])
  }

  private enum Row: Equatable {
    case values([DocumentValue])
    case failed
  }

  private static func engine(fast: Bool) throws -> SQLiteEngine {
    var configuration = SQLiteConfiguration()
    configuration.usesFastFieldAccess = fast
    return try SQLiteEngine(.memory, configuration)
  }

  /// The value, its type, and whether it is JSON rather than text.
  private static let statement =
    "SELECT json_extract(?1, ?2), typeof(json_extract(?1, ?2)), json_array(json_extract(?1, ?2))"

  /// Extracts all paths in one statement, or one by one if some of them are rejected.
  private static func extract(
    _ paths: [String], from body: DocumentValue, _ engine: SQLiteEngine
  ) throws -> [Row] {
    let calls = paths.indices.map { "json_extract(?1, ?\($0 + 2))" }
    let columns = calls.flatMap { [$0, "typeof(\($0))", "json_array(\($0))"] }
    let arguments = [body] + paths.map { .string($0) }
    let all = try row("SELECT " + columns.joined(separator: ", "), arguments, engine)
    if case .values(let values) = all {
      return paths.indices.map { .values(Array(values[($0 * 3)..<($0 * 3 + 3)])) }
    }
    return try paths.map { try row(statement, [body, .string($0)], engine) }
  }

  private static func row(
    _ sql: String, _ arguments: [DocumentValue], _ engine: SQLiteEngine
  ) throws -> Row {
    try engine.read(.call, nil) { reader in
      var values: [DocumentValue] = []
      do {
        _ = try (reader as? any SQLReader)?.sql(sql, SQLArguments(arguments)) { row in
          values = row.values
          return false
        }
      } catch let error as StoreError where error.code == .database {
        return .failed
      }
      return .values(values)
    }
  }
}
