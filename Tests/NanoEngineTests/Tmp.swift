import NanoDocument
import NanoEngine
import NanoSQLite
import NanoTesting
import Testing

@Test func tmp() throws {
  let e = try SQLiteEngine(.memory, SQLiteConfiguration())
  do {
    try e.write(nil) { w in
      try w.createIndex(IndexDefinition(columns: [.init("list.a")], kind: .elements), in: "t")
      _ = try GeneratedDocument([:]).new { try w.insert($0, into: "t") }
    }
  } catch { print(String(reflecting: error)) }
}
