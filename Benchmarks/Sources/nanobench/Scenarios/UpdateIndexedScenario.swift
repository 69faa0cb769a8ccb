// SPDX-License-Identifier: MIT

import BenchmarkKit
import NanoStoreModels

/// Changes an indexed field of documents with eight indexes, by key and in one transaction, including the commit and a
/// checkpoint. The baseline updates one real column, and SQLite writes only the index of that column. The result is the
/// average of the field in cents.
struct UpdateIndexedScenario: Scenario {
  let workload: Workload

  let name = "update-indexed"
  let work = "update one of eight indexed fields by key"
  let unit = "update"
  var operations: Int { workload.lookups.count }

  private static let fields = [
    "FirstName", "LastName", "Age", "City", "Salary", "Address.Street", "Address.Zip",
    "Address.Country",
  ]
  private static let columns = [
    "firstName", "lastName", "age", "city", "salary", "street", "zip", "country",
  ]

  fileprivate struct Change {
    var number: Int
    var salary: Double
  }

  /// Returns the changes of a round, which are the same for every variant.
  private static func changes(_ round: Int, _ workload: Workload) -> [Change] {
    var random = SplitMix(seed: UInt64(round) &+ 11)
    return workload.lookups.map {
      Change(number: $0, salary: 10_000 + Double(random.below(12_000_000)) / 100)
    }
  }

  var raw: Variant {
    Variant("raw SQLite C, eight indexed columns") { [workload] folder in
      let table = try ColumnTable.filled(folder, workload)
      try table.createIndexes(Self.columns)
      let update = try table.connection.prepare("UPDATE p SET salary=?2 WHERE key=?1")
      let average = try table.connection.prepare("SELECT avg(salary) FROM p")
      var round = 0
      return { watch in
        let changes = Self.changes(round, workload)
        round += 1
        try watch.measure {
          try table.connection.execute("BEGIN IMMEDIATE")
          for change in changes {
            update.bind(blob: workload.stored.key(change.number), at: 1)
            update.bind(change.salary, at: 2)
            try update.run()
          }
          try table.connection.execute("COMMIT")
          try table.checkpoint()
        }
        return try average.cents()
      }
    }
  }

  var others: [Variant] {
    [
      Variant("raw SQLite C, bodies with eight expression indexes") { [workload] folder in
        let table = try RawTable.filled(folder, workload)
        try table.createIndexes(Self.fields)
        let update = try table.connection.prepare("UPDATE d SET body=?2 WHERE key=?1")
        let average = try table.connection.prepare(
          "SELECT avg(\(RawTable.field("Salary"))) FROM d")
        var round = 0
        return { watch in
          let changes = Self.changes(round, workload)
          let bodies = StoredDocuments(changes.map { workload.changed($0).storedJSON })
          round += 1
          try watch.measure {
            try table.connection.execute("BEGIN IMMEDIATE")
            for (place, change) in changes.enumerated() {
              update.bind(blob: workload.stored.key(change.number), at: 1)
              update.bind(text: bodies.body(place), at: 2)
              try update.run()
            }
            try table.connection.execute("COMMIT")
            try table.checkpoint()
          }
          return try average.cents()
        }
      }
    ]
  }

  var ours: [Variant] {
    [
      variant("update of the field") { people, key, change, _ in
        try people.collection.update(key, set: ["Salary": .double(change.salary)])
      },
      variant("save of the whole model") { people, key, _, person in
        try people.models.save(person, key: key)
      },
    ]
  }

  private func variant(
    _ name: String, _ update: @escaping (People, String, Change, Person) throws -> Void
  ) -> Variant {
    Variant(name, target: 1.3) { [workload] folder in
      let people = try People.filled(folder, workload)
      try people.collection.createIndexes(Self.fields)
      let keys = try people.collection.find().keys()
      var round = 0
      return { watch in
        let changes = Self.changes(round, workload)
        let changed = changes.map(workload.changed)
        round += 1
        try watch.measure {
          try people.store.write {
            for (change, person) in zip(changes, changed) {
              try update(people, keys[change.number], change, person)
            }
          }
          // Closing the store checkpoints.
          try people.store.close()
        }
        try people.store.reopen()
        return try people.averageSalary()
      }
    }
  }
}

extension Workload {
  fileprivate func changed(_ change: UpdateIndexedScenario.Change) -> Person {
    var person = people[change.number]
    person.salary = change.salary
    return person
  }
}

extension People {
  /// In cents.
  fileprivate func averageSalary() throws -> Int {
    (try collection.find().average("Salary") ?? 0).cents
  }
}

extension RawStatement {
  /// Returns an amount of money from the only row.
  fileprivate func cents() throws -> Int {
    defer { reset() }
    return try step() ? double(0).cents : 0
  }
}
