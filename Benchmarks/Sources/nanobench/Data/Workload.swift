// SPDX-License-Identifier: MIT

import BenchmarkKit
import Foundation

/// The data of the scenarios: the same people, keys and queries for every variant.
final class Workload {
  /// One person for each document.
  let people: [Person]
  /// The same people as keys and bodies.
  let stored: StoredDocuments
  /// The same people as the values of real columns.
  private(set) lazy var columns = StoredColumns(people)
  /// The key of each person.
  let keys: [UUID]
  /// The numbers of the documents to get, in random order.
  let lookups: [Int]

  /// - Parameter distinct: The number of different people, which are repeated; nil for all. With ten million people in
  ///   memory, the measurements would compete with the data for it.
  init(documents: Int, distinct: Int? = nil) {
    let different = (0..<min(documents, distinct ?? documents)).map(Person.init(number:))
    people =
      different.count == documents
      ? different : (0..<documents).map { different[$0 % different.count] }
    stored = StoredDocuments(different.map(\.storedJSON), documents: documents)
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
