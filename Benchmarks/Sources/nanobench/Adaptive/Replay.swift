// SPDX-License-Identifier: MIT

import Foundation
import NanoStore

/// A workload that is replayed without indexes, with the best indexes created beforehand, and with adaptive indexing.
struct Replay {
  let name: String
  /// The best indexes for the complete workload, known in advance.
  let indexes: [[String]]
  /// Whether queries repeat, so that indexes must pay off.
  let isRepeated: Bool
  /// Runs the workload and returns a number that must be the same for every run.
  let run: (DocumentCollection) throws -> Int

  init(
    _ name: String, indexes: [[String]] = [], isRepeated: Bool = true,
    run: @escaping (DocumentCollection) throws -> Int
  ) {
    self.name = name
    self.indexes = indexes
    self.isRepeated = isRepeated
    self.run = run
  }
}

extension Replay {
  static func all(_ workload: Workload) -> [Replay] {
    [
      pointLookups(workload), elements(workload), rangeAndSort(workload), alternating(workload),
      mixed(workload), writeHeavy(workload), once(workload),
    ]
  }

  private static func count(
    _ people: DocumentCollection, _ numbers: some Sequence<Int>, _ condition: (Int) -> Condition
  ) throws -> Int {
    try numbers.reduce(0) { try $0 + people.find(condition($1)).fetch().count }
  }

  private static func pointLookups(_ workload: Workload) -> Replay {
    Replay("400 look-ups on one path", indexes: [["Address.Street"]]) { people in
      try count(people, workload.lookups.prefix(400)) {
        Field("Address.Street") == workload.people[$0].address.street
      }
    }
  }

  private static func elements(_ workload: Workload) -> Replay {
    Replay("400 look-ups in lists", indexes: [["Emails"]]) { people in
      try count(people, workload.lookups.prefix(400)) {
        Field("Emails") == workload.people[$0].emails[0]
      }
    }
  }

  private static func rangeAndSort(_ workload: Workload) -> Replay {
    Replay(
      "400 ranges, and sorted pages", indexes: [["City", "-Salary"], ["Salary"]]
    ) { people in
      try workload.lookups.prefix(200).reduce(0) { sum, number in
        let person = workload.people[number]
        let page = try people.find(Field("City") == person.city).sorted(by: "-Salary").limit(20)
          .fetch()
        let range = try people.find(
          Field("Salary").isBetween(person.salary, and: person.salary + 20)
        ).count()
        return sum + page.count + range
      }
    }
  }

  private static func alternating(_ workload: Workload) -> Replay {
    Replay(
      "600 look-ups, three paths in turn",
      indexes: [["Address.Street"], ["Joined"], ["LastName", "FirstName"]]
    ) { people in
      try workload.lookups.prefix(600).enumerated().reduce(0) { sum, item in
        let person = workload.people[item.element]
        let condition: Condition
        switch item.offset / 50 % 3 {
        case 0: condition = Field("Address.Street") == person.address.street
        case 1: condition = Field("Joined") == person.joined
        default:
          condition = Field("LastName") == person.lastName && Field("FirstName") == person.firstName
        }
        return try sum + people.find(condition).count()
      }
    }
  }

  private static func writeHeavy(_ workload: Workload) -> Replay {
    Replay(
      "200,000 inserts and 10 look-ups", indexes: [["Address.Street"]], isRepeated: false
    ) { people in
      try write(people, workload, batches: 2_000, lookupEvery: 200)
    }
  }

  private static func mixed(_ workload: Workload) -> Replay {
    Replay("20,000 inserts and 200 look-ups", indexes: [["Address.Street"]]) { people in
      try write(people, workload, batches: 200, lookupEvery: 1)
    }
  }

  private static func write(
    _ people: DocumentCollection, _ workload: Workload, batches: Int, lookupEvery: Int
  ) throws -> Int {
    var found = 0
    for batch in 0..<batches {
      let first = batch * 100 % (workload.documents - 100)
      try people.insert(workload.people[first..<(first + 100)])
      guard batch % lookupEvery == 0 else { continue }
      found += try count(people, [workload.lookups[batch]]) {
        Field("Address.Street") == workload.people[$0].address.street
      }
    }
    return found
  }

  private static func once(_ workload: Workload) -> Replay {
    Replay("8 paths, each queried once", isRepeated: false) { people in
      let person = workload.people[7]
      let conditions: [Condition] = [
        Field("FirstName") == person.firstName, Field("LastName") == person.lastName,
        Field("City") == person.city, Field("Salary") == person.salary,
        Field("Emails") == person.emails[0], Field("Address.Street") == person.address.street,
        Field("Address.Zip") == person.address.zip, Field("Joined") == person.joined,
      ]
      return try conditions.reduce(0) { try $0 + people.find($1).count() }
    }
  }
}
