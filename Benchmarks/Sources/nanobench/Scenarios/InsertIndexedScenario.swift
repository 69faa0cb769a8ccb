// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Inserts all documents into a new file with indexes, in one transaction, including the commit and a checkpoint.
/// NanoStore gets 1,000 documents per call. The result is the number inserted.
struct InsertIndexedScenario: Scenario {
  enum Kind: String {
    /// Three indexes on fields.
    case fields
    /// An index on the elements of an array.
    case elements
  }
  let workload: Workload
  let kind: Kind

  static let fields = ["LastName", "Age", "City"]
  static let columns = ["lastName", "age", "city"]
  static let array = "Emails"
  private static let batch = 1_000

  var name: String { kind == .fields ? "insert-indexed" : "insert-elements" }
  var work: String {
    switch kind {
    case .fields: "insert in one transaction, three indexes"
    case .elements: "insert in one transaction, an index on array elements"
    }
  }
  let unit = "document"
  var operations: Int { workload.documents }

  var raw: Variant {
    let name = kind == .fields ? "raw SQLite C, expression indexes" : "raw SQLite C, triggers"
    return Variant(name) { [workload, kind] folder in
      { watch in
        let table = try RawTable(folder.freshFile("raw.db"))
        switch kind {
        case .fields: try table.createIndexes(Self.fields)
        case .elements: try table.createElementIndex(Self.array)
        }
        try watch.measure {
          try table.insertAll(workload.stored)
          try table.checkpoint()
        }
        return try table.count()
      }
    }
  }

  var others: [Variant] {
    guard kind == .fields else { return [] }
    return [
      Variant(Comparison.realColumns) { [workload] folder in
        let columns = workload.columns
        return { watch in
          let table = try ColumnTable(folder.freshFile("columns.db"))
          try table.createIndexes(Self.columns)
          try watch.measure {
            try table.insertAll(workload.stored, columns)
            try table.checkpoint()
          }
          return try table.count()
        }
      },
      Variant(Comparison.handWritten) { [workload] folder in
        { watch in
          let table = try RecordTable<PersonRow>(folder.freshFile("record.db"))
          for column in Self.columns { try table.createIndex(column) }
          try watch.measure {
            try table.insertAll(workload)
            try table.checkpoint()
          }
          return try table.count()
        }
      },
    ]
  }

  var ours: [Variant] {
    [
      Variant("models", target: kind == .fields ? 1.15 : nil) { [workload, kind] folder in
        { watch in
          let people = try People(folder)
          switch kind {
          case .fields: try people.collection.createIndexes(Self.fields)
          case .elements: try people.collection.createIndex(Self.array, elements: true)
          }
          try watch.measure {
            try people.store.write {
              for start in stride(from: 0, to: workload.documents, by: Self.batch) {
                let end = min(start + Self.batch, workload.documents)
                try people.models.insert(workload.people[start..<end])
              }
            }
            // Closing the store checkpoints.
            try people.store.close()
          }
          return workload.documents
        }
      }
    ]
  }
}

extension DocumentCollection {
  /// Creates an index on each field.
  func createIndexes(_ fields: [String]) throws {
    for field in fields { try createIndex(field) }
  }
}

extension RawTable {
  /// Creates an index on each field.
  func createIndexes(_ fields: [String]) throws {
    for (number, field) in fields.enumerated() {
      try connection.execute("CREATE INDEX d_\(number) ON d(\(Self.field(field)))")
    }
  }

  /// Creates the side table of NanoStore's index on array elements, with the triggers that an insertion fires.
  func createElementIndex(_ field: String) throws {
    try connection.execute(
      """
      CREATE TABLE e(value, id INTEGER NOT NULL, PRIMARY KEY(value,id)) WITHOUT ROWID;
      CREATE INDEX e_id ON e(id);
      CREATE TRIGGER e_insert AFTER INSERT ON d BEGIN
        DELETE FROM e WHERE id = NEW.id;
        INSERT OR IGNORE INTO e(value,id)
          SELECT DISTINCT j.value, NEW.id
          FROM json_tree(json_array(json(NEW.body -> '$."\(field)"'))) AS j
          WHERE j.type NOT IN ('array','null') AND instr(j.fullkey,'.') = 0;
      END
      """)
  }
}
