// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// What the readers of a mixed load do.
enum MixedLoad: String, CaseIterable {
  case get, find, filter

  var text: String {
    switch self {
    case .get: "get by key"
    case .find: "find by index"
    case .filter: "filter, no index"
    }
  }

  /// Returns the next read of a reader.
  func next(_ data: MixedData, _ random: inout SplitMix) -> MixedRead {
    switch self {
    case .get: .get(random.below(data.people.count))
    case .find: .find(random.pick(data.soughtNames))
    case .filter: .filter(random.pick(data.soughtNames))
    }
  }
}

/// One read, which returns whole values.
enum MixedRead {
  /// The person with a number, by key.
  case get(Int)
  /// All people with a last name, which has an index.
  case find(String)
  /// The people of the part with a last name, which has no index there.
  case filter(String)
}

/// One write with its own commit.
enum MixedWrite {
  case insert(UUID, Person)
  /// Changes the salary, which has no index, of the person with a number.
  case update(Int, Double)
}

/// The people in the file, and those that the writer adds.
struct MixedData: Sendable {
  let people: [Person]
  let keys: [UUID]
  let soughtNames: [String]
  /// People whose names are not sought, so that the results of the readers do not depend on the speed of the writer.
  let newPeople: [Person]

  init(_ workload: Workload) {
    people = workload.people
    keys = workload.keys
    soughtNames = workload.soughtNames
    let sought = Set(workload.soughtNames)
    let count = workload.documents
    newPeople = (count..<count + Self.newCount).map(Person.init(number:))
      .filter { !sought.contains($0.lastName) }
  }

  /// Arbitrary; the writer starts again from the first.
  private static let newCount = 10_000

  /// The number of people in the part that is scanned.
  var partCount: Int { min(10_000, people.count) }

  /// Returns the write with a number: inserts and updates in turn.
  func write(_ number: Int, _ random: inout SplitMix) -> MixedWrite {
    guard number.isMultiple(of: 2) else {
      return .update(random.below(people.count), Double(random.below(12_000_000)) / 100)
    }
    let place = number / 2
    return .insert(UUID(version7: people.count + place), newPeople[place % newPeople.count])
  }
}
