// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// The data of the scenarios: the same people, keys and queries for every variant.
final class Workload {
  /// One person for each document.
  let people: [Person]
  /// The same people as keys and bodies.
  let stored: StoredDocuments
  /// The key of each person.
  let keys: [UUID]
  /// The numbers of the documents to get, in random order.
  let lookups: [Int]

  init(documents: Int) {
    people = (0..<documents).map(Person.init(number:))
    stored = StoredDocuments(people.map(\.storedJSON))
    keys = (0..<documents).map(UUID.init(version7:))
    var random = SplitMix(seed: 3)
    lookups = (0..<20_000).map { _ in random.below(documents) }
  }

  /// The minimum number of documents for meaningful scenarios.
  static let minimumDocuments = 1000

  var documents: Int { people.count }

  /// The number of documents that are committed individually: a fiftieth, but at most 2,000, because each commit
  /// waits for the disk with synchronous FULL.
  var commits: Int { min(documents / 50, 2000) }

  /// The last names to find, all different.
  let soughtNames = Array(Names.last.prefix(200))

  /// The last name for the scan without an index.
  var soughtName: String { soughtNames[0] }
}
