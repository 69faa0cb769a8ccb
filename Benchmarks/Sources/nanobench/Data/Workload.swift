// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// What the scenarios work on: the same people, keys and questions for every variant.
final class Workload {
  /// The people, one for each document.
  let people: [Person]
  /// The same people as keys and bodies.
  let stored: StoredDocuments
  /// The key of each person.
  let keys: [UUID]
  /// Numbers of the documents to get, in no order.
  let lookups: [Int]

  init(documents: Int) {
    people = (0..<documents).map(Person.init(number:))
    stored = StoredDocuments(people.map(\.storedJSON))
    keys = (0..<documents).map(UUID.init(version7:))
    var random = SplitMix(seed: 3)
    lookups = (0..<20_000).map { _ in random.below(documents) }
  }

  /// Fewest documents that leave something to do in every scenario.
  static let minimumDocuments = 1000

  var documents: Int { people.count }

  /// How many documents are committed one by one: a fiftieth, and not over 2,000, because each
  /// waits for the disk with synchronous FULL.
  var commits: Int { min(documents / 50, 2000) }

  /// Last names to find, each different.
  let soughtNames = Array(Names.last.prefix(200))

  /// The one last name that the scan without an index looks for.
  var soughtName: String { soughtNames[0] }
}
